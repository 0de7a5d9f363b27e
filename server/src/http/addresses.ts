/**
 * The rate limit bucket of a network address. One IPv6 customer commonly has a whole /64, so the /64 is
 * counted; an IPv4-mapped IPv6 address counts as the IPv4 address.
 */
export function addressBucket(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped) return `address:${mapped[1]}`
  if (!address.includes(':')) return `address:${address}`
  return `address:${network64(address)}`
}

function network64(address: string): string {
  const [head = '', tail] = address.split('%')[0]!.split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length)
  const groups = [...front, ...Array<string>(missing).fill('0'), ...back]
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

/** Normalizes the path as the router does, because one URL can be written in many ways. */
export function normalPath(url: string): string {
  const path = url.replace(/^https?:\/\/[^/?]*/i, '').split('?', 1)[0]!
  return decoded(path).replace(/(?<=.)\/$/, '')
}

function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}
