import { BlockList, isIPv4, isIPv6 } from 'node:net'

/**
 * IPv4 networks that are not part of the public internet (the special-purpose registry of IANA): this machine, private
 * networks, links, shared address space, tests, documentation, multicast and what is reserved.
 */
const internal = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
/** The exceptions in the public half of IPv6: special purposes with Teredo, documentation twice, and 6to4, which carries any IPv4 address. */
const internal6 = ['2001::/23', '2001:db8::/32', '3fff::/20', '2002::/16']

const blocked = listOf(internal, 'ipv4')
const blocked6 = listOf(internal6, 'ipv6')
const public6 = listOf(['2000::/3'], 'ipv6')
/** The last 32 bits of these are an IPv4 address: mapped ones, and those of a translator (NAT64). */
const carriers = listOf(['::ffff:0:0/96', '64:ff9b::/96'], 'ipv6')

/** Whether an IP address is inside: not one that any machine of the internet could have. Other texts are inside too. */
export function isInternalAddress(address: string): boolean {
  if (isIPv4(address)) return blocked.check(address)
  if (!isIPv6(address) || address.includes('%')) return true
  if (carriers.check(address, 'ipv6')) return blocked.check(lastFourBytes(address))
  return !public6.check(address, 'ipv6') || blocked6.check(address, 'ipv6')
}

function listOf(networks: string[], kind: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address, bits] = network.split('/') as [string, string]
    list.addSubnet(address, Number(bits), kind)
  }
  return list
}

function lastFourBytes(address: string): string {
  // The parser of URLs writes every form as groups of hexadecimal digits.
  const groups = new URL(`http://[${address}]`).hostname.slice(1, -1).split(':')
  const [high, low] = groups.slice(-2).map((group) => Number.parseInt(group || '0', 16)) as [number, number]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
