import { randomBytes } from 'node:crypto'

/** Digits, capitals and small letters: what no program and no font breaks. */
export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Random characters of the 62, each equally likely: bytes past the last whole multiple of 62 are thrown away. */
export function randomBase62(length: number, random: (size: number) => Uint8Array = randomBytes): string {
  let text = ''
  while (text.length < length) {
    for (const byte of random(length * 2)) {
      if (byte < 248 && text.length < length) text += BASE62[byte % 62]
    }
  }
  return text
}

export type IdKind = 'usr' | 'org' | 'key' | 'inv' | 'job' | 'lnk' | 'fam' | 'node' | 'inst'

/** `key_` and 20 random characters: the prefix tells a reader what an id names. */
export function newId(kind: IdKind): string {
  return `${kind}_${randomBase62(20)}`
}

/** What cannot be an id is answered as unknown, without asking the database. */
export function isId(kind: IdKind, text: string): boolean {
  return (
    text.length === kind.length + 21 &&
    text.startsWith(`${kind}_`) &&
    /^[0-9A-Za-z]+$/.test(text.slice(kind.length + 1))
  )
}
