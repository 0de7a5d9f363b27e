/** Characters that XML 1.0 cannot represent: most controls, lone surrogates, and two non-characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu

const ENTITIES: { [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
}

/** Escapes text between tags. A bare carriage return would be parsed as a line feed. */
export function xmlText(text: string): string {
  return text.replace(FORBIDDEN, '\ufffd').replace(/[&<>\r]/g, (character) => ENTITIES[character]!)
}

/** Escapes text in a quoted attribute, where bare white space would be parsed as spaces. */
export function xmlAttribute(text: string): string {
  return text.replace(FORBIDDEN, '\ufffd').replace(/[&<>"\t\n\r]/g, (character) => ENTITIES[character]!)
}

const AMPERSAND = Buffer.from('&amp;')
const LESS = Buffer.from('&lt;')
const GREATER = Buffer.from('&gt;')

/**
 * `xmlText` for UTF-8 bytes from JSON text without escapes, which therefore contain no control characters.
 * The output needs at most five times the bytes. Returns the next free offset in `out`.
 */
export function putXmlText(bytes: Buffer, start: number, end: number, out: Buffer, at: number): number {
  for (let p = start; p < end; p++) {
    const byte = bytes[p]!
    if (byte === 0x26) at += AMPERSAND.copy(out, at)
    else if (byte === 0x3c) at += LESS.copy(out, at)
    else if (byte === 0x3e) at += GREATER.copy(out, at)
    else if (byte === 0xef && bytes[p + 1] === 0xbf && bytes[p + 2]! >= 0xbe) {
      at += out.write('\ufffd', at)
      p += 2
    } else out[at++] = byte
  }
  return at
}
