import type { IncomingMessage } from 'node:http'

/** The id of the key that a request was authenticated with, for the log. */
const keyIds = new WeakMap<IncomingMessage, string>()

export function noteKey(request: IncomingMessage, keyId: string): void {
  keyIds.set(request, keyId)
}

export function keyOf(request: IncomingMessage): string | undefined {
  return keyIds.get(request)
}
