import { detectAll } from 'jschardet'
import { type Encoding, findEncoding } from './encoding.ts'

/** Encodings whose capitals are the small letters of another one, or letters of another script. */
const LABELS = ['windows-1251', 'koi8-r', 'ibm866', 'windows-1253']
const MIN_CAPITALS = 3

/**
 * The encodings in which all letters of a sample that are not ASCII are capitals, with the confidence that the
 * detector has in the same text in small letters: it knows how often small letters follow each other, and takes
 * Greek capitals for small Cyrillic letters.
 */
export function detectCapitals(sample: Uint8Array): { encoding: Encoding; confidence: number }[] {
  return LABELS.flatMap((label) => {
    const encoding = findEncoding(label)!
    const text = encoding.decode(sample)
    if (text === null || !isInCapitals(text)) return []
    const own = detectAll(inSmallLetters(text, encoding)).find(
      ({ encoding: name }) => name !== null && findEncoding(name)?.name === encoding.name,
    )
    return own ? [{ encoding, confidence: own.confidence }] : []
  })
}

function isInCapitals(text: string): boolean {
  if (/[^\P{Ll}a-z]/u.test(text)) return false
  return (text.match(/[^\P{Lu}A-Z]/gu)?.length ?? 0) >= MIN_CAPITALS
}

function inSmallLetters(text: string, encoding: Encoding): Buffer {
  const bytes = new Map<string, number>()
  for (let byte = 0; byte < 256; byte++) {
    const letter = encoding.decode(Uint8Array.of(byte))
    if (letter !== null) bytes.set(letter, byte)
  }
  return Buffer.from(Array.from(text, (letter) => bytes.get(letter.toLowerCase()) ?? bytes.get(letter)!))
}
