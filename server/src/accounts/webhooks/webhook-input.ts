import { isIP } from 'node:net'
import { isInternalAddress } from '../../base/outside/internal-address.ts'
import { invalidInput } from '../../base/problem.ts'

/**
 * The normal form of a receiver's address. A host name is checked when it is resolved, at each attempt; an address in
 * digits is refused here already, so that its owner sees why.
 */
export function checkWebhookUrl(text: string, allowInternal: boolean): string {
  const url = URL.parse(text.trim())
  const schemes = allowInternal ? ['https:', 'http:'] : ['https:']
  if (!url || !schemes.includes(url.protocol)) {
    throw invalidInput(
      '/url',
      `must be an address that begins with ${allowInternal ? 'https:// or http://' : 'https://'}`,
    )
  }
  if (url.username !== '' || url.password !== '') {
    throw invalidInput('/url', 'must not have a user name or password')
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (!allowInternal && isIP(host) !== 0 && isInternalAddress(host)) {
    throw invalidInput('/url', 'must not be an address inside the network of the service')
  }
  url.hash = ''
  return url.href
}
