import { SaxesParser } from 'saxes'
import { SourceError } from '../../source-error.ts'
import type { ByteSource } from '../reading/byte-source.ts'
import { megabytes } from '../reading/source-limits.ts'
import { XmlText } from '../reading/text/xml-text.ts'

/** The receiver of a document's elements. Names have no namespace prefix. */
export interface XmlEvents {
  open(name: string, attributes: { [name: string]: string }): void
  close(name: string): void
  text(text: string): void
}

/** More than any sheet has. The parser keeps all open elements. */
const MAX_DEPTH = 256
/** The max size of an element's attributes or of a text, which the parser buffers until it ends. */
const MAX_UNHEARD_CHARACTERS = 128 << 20

/** Parses a document piece by piece; yields after each, so that the receiver can pass on what it has. */
export async function* parseXml(source: ByteSource, events: XmlEvents): AsyncGenerator<void> {
  const parser = new SaxesParser()
  parser.on('error', (error) => {
    throw new SourceError(`${source.file} is not valid XML: ${error.message.replace(/\.$/, '')}.`)
  })
  let depth = 0
  /** The characters for which the parser has emitted no event yet. */
  let unheard = 0
  parser.on('opentag', ({ name, attributes }) => {
    unheard = 0
    if (++depth > MAX_DEPTH)
      throw new SourceError(`${source.file} has elements nested more than ${MAX_DEPTH} deep.`)
    events.open(localName(name), attributes)
  })
  parser.on('closetag', ({ name }) => {
    unheard = 0
    depth--
    events.close(localName(name))
  })
  const say = (text: string) => {
    unheard = 0
    events.text(text)
  }
  parser.on('text', say)
  parser.on('cdata', say)
  let text: XmlText | null = null
  for await (const piece of source.bytes) {
    text ??= new XmlText(Buffer.from(piece), source.file)
    const characters = text.decode(piece)
    unheard += characters.length
    if (unheard > MAX_UNHEARD_CHARACTERS)
      throw new SourceError(
        `${source.file} has a text or attribute of more than ${megabytes(MAX_UNHEARD_CHARACTERS)}.`,
      )
    parser.write(characters)
    yield
  }
  parser.write(text?.decode(null) ?? '')
  parser.close()
  yield
}

export async function parseWholeXml(source: ByteSource, events: XmlEvents): Promise<void> {
  for await (const _ of parseXml(source, events)) {
    // The receiver keeps what it needs.
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
