import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { JobRow } from '../../data/jobs/job-store.ts'

const closed = { additionalProperties: false }

/** What a job stores, so that any worker can build the tiles. */
const storedJob = Type.Object({ version: Type.Integer({ minimum: 1 }) }, closed)
export type TileJobRequest = Static<typeof storedJob>

/** The same for a part of the tiles. */
const storedPart = Type.Object(
  {
    version: Type.Integer({ minimum: 1 }),
    /** Names the plan of the parts. */
    key: Type.String({ pattern: '^[0-9a-f]{32}$' }),
    part: Type.Integer({ minimum: 0 }),
    /** What the plan was made for, besides the version. */
    maxZoom: Type.Integer({ minimum: 0 }),
    partBytes: Type.Integer({ minimum: 1 }),
  },
  closed,
)
export type PartJobRequest = Static<typeof storedPart>

/** Returns null if the value is not what this program has stored. */
export function parseTileJob({ request }: JobRow): TileJobRequest | null {
  const stored: unknown = JSON.parse(request ?? 'null')
  return Value.Check(storedJob, stored) ? stored : null
}

/** The same for a part. */
export function parsePartJob({ request }: JobRow): PartJobRequest | null {
  const stored: unknown = JSON.parse(request ?? 'null')
  return Value.Check(storedPart, stored) ? stored : null
}
