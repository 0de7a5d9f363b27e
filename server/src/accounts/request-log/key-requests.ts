import type { LoggedKeyRequest } from '@wayleave/contract/records'
import type { Db } from '../../base/database/open.ts'
import { isId } from '../../base/id.ts'
import { type KeyActor, requireKey } from '../keys/key-access.ts'
import { findKey } from '../keys/store.ts'
import { type RequestFilter, readRequests } from './store.ts'

/** The requests of a key, for those who may see it. */
export class KeyRequests {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  async list(actor: KeyActor, keyId: string, filter: RequestFilter): Promise<LoggedKeyRequest[]> {
    const key = isId('key', keyId) ? await findKey(this.#db, keyId) : undefined
    await requireKey(this.#db, actor, key, 'view')
    return readRequests(this.#db, keyId, filter)
  }
}
