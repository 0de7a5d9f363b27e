import { Problem, type ProblemCode, type ProblemExtras } from '../../base/problem.ts'
import type { Version } from './dataset.ts'

/**
 * A version could not be read, and looking it up again may help. A request for the current version is repeated once,
 * with the version that is current then; a client that named the version gets the problem.
 */
export abstract class VersionUnreadable extends Problem {
  override name = 'VersionUnreadable'
}

/** The storage does not have the version, for example because a move of the storage has not copied it yet. */
export class VersionMissing extends VersionUnreadable {
  override name = 'VersionMissing'

  constructor({ table, version }: Version, cause?: unknown) {
    super(...unavailable(`Version ${version} of the dataset "${table}" is not in the storage.`, '10', cause))
  }
}

/** The node's cache had a damaged copy of a file, which was discarded: the next reader fetches it again. */
export class CopyDiscarded extends VersionUnreadable {
  override name = 'CopyDiscarded'

  constructor({ table }: Version, cause: unknown) {
    super(...unavailable(`A file of the dataset "${table}" is fetched again from the storage.`, '1', cause))
  }
}

function unavailable(
  sentence: string,
  retryAfter: string,
  cause: unknown,
): [ProblemCode, string, ProblemExtras] {
  return [
    'storage-unavailable',
    `${sentence} Nothing was charged.`,
    { headers: { 'retry-after': retryAfter }, cause },
  ]
}
