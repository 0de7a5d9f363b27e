import { Wayleave } from '@wayleave/client'
import { session } from './session.ts'
import { sessionKey } from './session-key.ts'

/** For features and downloads, which need a key. */
export const data = new Wayleave({ apiKey: sessionKey })

/** For what anyone may read: a signed-in user has a rate limit of their own, others share that of their address. */
export const publicData = new Wayleave({
  apiKey: (refused) =>
    session.state === 'signed-in' && refused === undefined ? sessionKey().catch(() => '') : '',
})
