import { Problem } from '../../base/problem.ts'
import type { Version } from './dataset.ts'

/**
 * A version was removed while a request read it. A client that named the version gets 404; a request for the
 * current version is repeated with the one that is current now.
 */
export class VersionRemoved extends Problem {
  override name = 'VersionRemoved'

  constructor({ table }: Version, cause: unknown) {
    super('not-found', `There is no such version of "${table}" any more.`, { cause })
  }
}
