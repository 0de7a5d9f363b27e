import { BlockList, isIP } from 'node:net'

/** A list of networks, prepared for comparing addresses with it. */
export function networkList(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits = ''] = network.split('/')
    list.addSubnet(address, Number(bits), familyOf(address))
  }
  return list
}

/** IPv4 addresses in IPv6 notation (`::ffff:192.0.2.1`) match IPv4 networks. */
export function contains(list: BlockList, address: string): boolean {
  return isIP(address) !== 0 && list.check(address, familyOf(address))
}

/** With the number of bits, also for a single address; null if it is not a network. */
export function normalNetwork(text: string): string | null {
  const [address = '', bits, more] = text.trim().toLowerCase().split('/')
  const family = isIP(address)
  if (family === 0 || address.includes('%') || more !== undefined) return null
  const max = family === 4 ? 32 : 128
  if (bits !== undefined && (!/^\d{1,3}$/.test(bits) || Number(bits) > max)) return null
  const length = Number(bits ?? max)
  const mapped = length >= 96 ? mappedAddress(address) : null
  return mapped === null ? `${address}/${length}` : `${mapped}/${length - 96}`
}

/** The IPv4 address of an IPv4-mapped IPv6 address; a network of these is compared as an IPv4 network. */
function mappedAddress(address: string): string | null {
  const dotted = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)
  if (dotted) return dotted[1]!
  const groups = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address)
  if (!groups) return null
  const [high, low] = [Number.parseInt(groups[1]!, 16), Number.parseInt(groups[2]!, 16)]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
