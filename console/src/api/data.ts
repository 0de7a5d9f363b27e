import { Wayleave } from '@wayleave/client'
import { heldSessionKey, sessionKey } from './session-key.ts'

/** The client for features and downloads, which need a key. */
export const data = new Wayleave({ apiKey: sessionKey })

/**
 * The client for public data. It sends the key if there is one: a key has its own rate limit, while requests
 * without a key share the limit of their network address.
 */
export const publicData = new Wayleave({
  apiKey: (refused) => (refused === undefined ? heldSessionKey() : ''),
})
