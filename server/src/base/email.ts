import { domainToASCII } from 'node:url'

const MAX_CHARACTERS = 254
const MAX_LOCAL_CHARACTERS = 64
/** The characters of an address that needs no quoting, which also prevents mail header injection. */
const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const DOMAIN = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/

/** Normalizes a mail address: trimmed, lower case, the domain in ASCII. Null if it is not valid. */
export function normalEmail(text: string): string | null {
  const trimmed = text.trim().toLowerCase()
  const at = trimmed.lastIndexOf('@')
  const local = trimmed.slice(0, at)
  const domain = domainToASCII(trimmed.slice(at + 1))
  if (at < 1 || local.length > MAX_LOCAL_CHARACTERS || !LOCAL.test(local) || !DOMAIN.test(domain)) return null
  const email = `${local}@${domain}`
  return email.length <= MAX_CHARACTERS ? email : null
}
