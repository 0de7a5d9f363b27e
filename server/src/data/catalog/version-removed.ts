import type { Version } from './dataset.ts'
import { VersionUnreadable } from './version-unreadable.ts'

/** A version was removed while a request read it. A client that named the version gets 404. */
export class VersionRemoved extends VersionUnreadable {
  override name = 'VersionRemoved'

  constructor({ table }: Version, cause: unknown) {
    super('not-found', `There is no such version of "${table}" any more.`, { cause })
  }
}
