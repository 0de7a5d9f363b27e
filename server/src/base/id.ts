import { randomBytes } from 'node:crypto'

/** Digits, upper and lower case letters: safe in any program, URL or font. */
export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Uniformly random base 62 characters: bytes of 248 and above are discarded to avoid modulo bias. */
export function randomBase62(length: number, random: (size: number) => Uint8Array = randomBytes): string {
  let text = ''
  while (text.length < length) {
    for (const byte of random(length * 2)) {
      if (byte < 248 && text.length < length) text += BASE62[byte % 62]
    }
  }
  return text
}

export type IdKind =
  | 'usr'
  | 'org'
  | 'key'
  | 'inv'
  | 'job'
  | 'lnk'
  | 'fam'
  | 'node'
  | 'inst'
  | 'blk'
  | 'req'
  | 'grt'
  | 'whk'
  | 'msg'
  | 'ntc'
  | 'prd'
  | 'ord'
  | 'sub'
  | 'run'

/** `key_` and 20 random characters: the prefix shows what kind of thing an id refers to. */
export function newId(kind: IdKind): string {
  return `${kind}_${randomBase62(20)}`
}

/** Invalid ids are treated as unknown without a database query. */
export function isId(kind: IdKind, text: string): boolean {
  return (
    text.length === kind.length + 21 &&
    text.startsWith(`${kind}_`) &&
    /^[0-9A-Za-z]+$/.test(text.slice(kind.length + 1))
  )
}
