import { SourceError } from '../../source-error.ts'
import { isBinary } from './sniff.ts'

/** A refusal of text with a NUL character, which no format of text allows; `offset` is counted from 0. */
export function nulCharacter(file: string, offset: number): SourceError {
  return new SourceError(
    `${file} contains a NUL character (byte ${offset + 1}), which text cannot have. Remove such characters, for example with tr -d '\\000', and publish the file again.`,
  )
}

/** Throws if the start of a file would be text without a few NUL characters. */
export function refuseNulInText(head: Buffer, file: string): void {
  const text = head.filter((byte) => byte !== 0)
  const nulCount = head.length - text.length
  // More of them are a format of their own, or UTF-16.
  if (nulCount > 0 && nulCount < head.length / 4 && !isBinary(text)) throw nulCharacter(file, head.indexOf(0))
}
