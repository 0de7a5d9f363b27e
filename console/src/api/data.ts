import { Wayleave } from '@wayleave/client'
import { readerKey } from './session-key.ts'

/** The client for features and downloads, which need a key unless the dataset is open. */
export const data = new Wayleave({ apiKey: readerKey })

/**
 * The client for what everybody may know. It sends the key of a signed-in user, who may know more: private datasets of
 * their organization, their own price, and what they may get.
 */
export const publicData = new Wayleave({
  apiKey: (refused) => (refused === undefined ? readerKey().catch(() => '') : ''),
})
