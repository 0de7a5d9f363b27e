import { isIP } from 'node:net'
import { normalEmail } from '../email.ts'

/** The parsed value, or a description of what was expected, to be used after "is not". */
export type Parse<T> = (given: unknown) => { value: T } | { expected: string }

export function text(pattern?: RegExp, description = 'a text'): Parse<string> {
  return (given) =>
    typeof given === 'string' && given.trim() !== '' && (!pattern || pattern.test(given))
      ? { value: given }
      : { expected: description }
}

export function integer(least: number, most: number): Parse<number> {
  return (given) => {
    const value = typeof given === 'string' && /^-?\d{1,16}$/.test(given.trim()) ? Number(given) : given
    return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
      ? { value: value as number }
      : { expected: `a whole number from ${least} to ${most}` }
  }
}

/** A number of days, or "forever", which is null. */
export function daysOrForever(min: number): Parse<number | null> {
  const parseDays = integer(min, 36_500)
  return (given) => {
    if (given === 'forever') return { value: null }
    const result = parseDays(given)
    return 'value' in result ? result : { expected: `${result.expected} or "forever"` }
  }
}

export function boolean(): Parse<boolean> {
  return (given) => {
    if (given === true || given === 'true' || given === '1') return { value: true }
    if (given === false || given === 'false' || given === '0') return { value: false }
    return { expected: '"true" or "false"' }
  }
}

export function choice<const T extends string>(...choices: T[]): Parse<T> {
  return (given) =>
    choices.includes(given as T)
      ? { value: given as T }
      : { expected: `one of ${choices.map((name) => `"${name}"`).join(', ')}` }
}

/** Without arguments, any texts are allowed. */
export function textList<const T extends string = string>(...allowed: T[]): Parse<T[]> {
  return (given) => {
    const items = splitList(given)
    if (!items || (allowed.length > 0 && items.some((item) => !allowed.includes(item as T)))) {
      return { expected: allowed.length > 0 ? `a list of ${allowed.join(', ')}` : 'a list of texts' }
    }
    return { value: items as T[] }
  }
}

export function addressList(): Parse<string[]> {
  return (given) => {
    const items = splitList(given)
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
  return (given) => {
    const addresses = splitList(given)?.map(normalEmail)
    return addresses?.every((address) => address !== null)
      ? { value: addresses }
      : { expected: 'a list of mail addresses' }
  }
}

export function url(...protocols: string[]): Parse<string> {
  const beginnings = protocols.map((protocol) => (protocol === 'mailto:' ? protocol : `${protocol}//`))
  const expected = `an address that begins with ${beginnings.join(' or ')}`
  return (given) => {
    if (typeof given !== 'string' || !URL.canParse(given)) return { expected }
    const parsed = new URL(given)
    if (!protocols.includes(parsed.protocol)) return { expected }
    return { value: given.replace(/\/+$/, '') }
  }
}

function splitList(given: unknown): string[] | null {
  if (Array.isArray(given)) return given.every((item) => typeof item === 'string') ? given : null
  if (typeof given !== 'string') return null
  return given
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}
