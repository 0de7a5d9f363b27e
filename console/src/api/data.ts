import { Wayleave } from '@wayleave/client'
import { heldSessionKey, sessionKey } from './session-key.ts'

/** For features and downloads, which need a key. */
export const data = new Wayleave({ apiKey: sessionKey })

/** For what anyone may read: a key has a rate limit of its own, others share that of their network address. */
export const publicData = new Wayleave({
  apiKey: (refused) => (refused === undefined ? heldSessionKey() : ''),
})
