import { isIP } from 'node:net'
import { normalEmail } from '../email.ts'

/** The parsed value, or a description of what was expected, to be used after "is not". */
export type Parse<T> = (raw: unknown) => { value: T } | { expected: string }

export function text(pattern?: RegExp, description = 'a text'): Parse<string> {
  return (raw) =>
    typeof raw === 'string' && raw.trim() !== '' && (!pattern || pattern.test(raw))
      ? { value: raw }
      : { expected: description }
}

export function integer(min: number, max: number): Parse<number> {
  return (raw) => {
    const value = typeof raw === 'string' && /^-?\d{1,16}$/.test(raw.trim()) ? Number(raw) : raw
    return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
      ? { value: value as number }
      : { expected: `a whole number from ${min} to ${max}` }
  }
}

/** A number of days, or "forever", which is null. */
export function daysOrForever(min: number): Parse<number | null> {
  const parseDays = integer(min, 36_500)
  return (raw) => {
    if (raw === 'forever') return { value: null }
    const result = parseDays(raw)
    return 'value' in result ? result : { expected: `${result.expected} or "forever"` }
  }
}

export function boolean(): Parse<boolean> {
  return (raw) => {
    if (raw === true || raw === 'true' || raw === '1') return { value: true }
    if (raw === false || raw === 'false' || raw === '0') return { value: false }
    return { expected: '"true" or "false"' }
  }
}

export function choice<const T extends string>(...choices: T[]): Parse<T> {
  return (raw) =>
    choices.includes(raw as T)
      ? { value: raw as T }
      : { expected: `one of ${choices.map((name) => `"${name}"`).join(', ')}` }
}

/** Without arguments, any texts are allowed. */
export function textList<const T extends string = string>(...allowed: T[]): Parse<T[]> {
  return (raw) => {
    const items = splitList(raw)
    if (!items || (allowed.length > 0 && items.some((item) => !allowed.includes(item as T)))) {
      return { expected: allowed.length > 0 ? `a list of ${allowed.join(', ')}` : 'a list of texts' }
    }
    return { value: items as T[] }
  }
}

/** Texts by their names: an object, or `name=text` separated by semicolons. */
export function namedTexts<T extends Partial<Record<string, string>> = Record<string, string>>(
  isAllowed: (name: string, text: string) => boolean,
  description: string,
): Parse<T> {
  return (raw) => {
    const texts =
      typeof raw === 'string'
        ? raw.split(';').flatMap((part) => (part.trim() === '' ? [] : [splitPair(part)]))
        : Object.entries(typeof raw === 'object' && raw !== null ? raw : { '': raw })
    const areAllowed = texts.every(
      ([name, text]) => name !== '' && typeof text === 'string' && text !== '' && isAllowed(name, text),
    )
    return areAllowed ? { value: Object.fromEntries(texts) as T } : { expected: description }
  }
}

function splitPair(part: string): [name: string, text: string] {
  const [name = '', ...rest] = part.split('=')
  return [name.trim(), rest.join('=').trim()]
}

export function addressList(): Parse<string[]> {
  return (raw) => {
    const items = splitList(raw)
    const valid = items?.every((item) => {
      const [address = '', bits, more] = item.split('/')
      const family = isIP(address)
      if (family === 0 || more !== undefined) return false
      return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
    })
    return items && valid ? { value: items } : { expected: 'a list of network addresses' }
  }
}

/** Mail addresses, normalized as sign-in compares them. */
export function emailList(): Parse<string[]> {
  return (raw) => {
    const addresses = splitList(raw)?.map(normalEmail)
    return addresses?.every((address) => address !== null)
      ? { value: addresses }
      : { expected: 'a list of mail addresses' }
  }
}

export function url(...protocols: string[]): Parse<string> {
  const beginnings = protocols.map((protocol) => (protocol === 'mailto:' ? protocol : `${protocol}//`))
  const expected = `an address that begins with ${beginnings.join(' or ')}`
  return (raw) => {
    if (typeof raw !== 'string' || !URL.canParse(raw)) return { expected }
    const parsed = new URL(raw)
    if (!protocols.includes(parsed.protocol)) return { expected }
    return { value: raw.replace(/\/+$/, '') }
  }
}

function splitList(raw: unknown): string[] | null {
  if (Array.isArray(raw)) return raw.every((item) => typeof item === 'string') ? raw : null
  if (typeof raw !== 'string') return null
  return raw
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}
