import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { JobRow } from '../../jobs/job-store.ts'

const closed = { additionalProperties: false }

const partSource = Type.Union([
  /** The upload of a job, and its size. */
  Type.Object({ upload: Type.String(), bytes: Type.Integer({ minimum: 1 }) }, closed),
  /** The bucket that a table is refreshed from, and the state of what is there. */
  Type.Object({ table: Type.String(), lastModified: Type.String() }, closed),
])
/** Where every worker finds the files of a source. */
export type PartSource = Static<typeof partSource>

/** What a job stores that stages a part of a source. */
const storedPart = Type.Object(
  {
    /** The job that publishes the source. */
    job: Type.String(),
    /** Names the plan of the parts. */
    key: Type.String({ pattern: '^[0-9a-f]{32}$' }),
    part: Type.Integer({ minimum: 0 }),
    source: partSource,
    /** The name of the source for messages. */
    file: Type.String(),
    /** The version of the program that has made the plan. */
    program: Type.String(),
  },
  closed,
)
export type SourcePartRequest = Static<typeof storedPart>

/** Null if the job is a part of something else. */
export function parseSourcePart({ request }: Pick<JobRow, 'request'>): SourcePartRequest | null {
  const stored: unknown = JSON.parse(request ?? 'null')
  return Value.Check(storedPart, stored) ? stored : null
}
