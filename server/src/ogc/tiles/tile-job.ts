import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { JobRow } from '../../data/jobs/job-store.ts'

/** What a job stores, so that any worker can build the tiles. */
const storedJob = Type.Object({ version: Type.Integer({ minimum: 1 }) }, { additionalProperties: false })
export type TileJobRequest = Static<typeof storedJob>

/** Returns null if the value is not what this program has stored. */
export function parseTileJob({ request }: JobRow): TileJobRequest | null {
  const stored: unknown = JSON.parse(request ?? 'null')
  return Value.Check(storedJob, stored) ? stored : null
}
