import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'

/** What a job stores that refreshes a dataset from its source. */
const storedJob = Type.Object(
  { source: Type.String(), isManual: Type.Boolean() },
  { additionalProperties: false },
)
export type SourceJob = Static<typeof storedJob>

export function printSourceJob(job: SourceJob): string {
  return JSON.stringify(job)
}

/** Null if the job publishes something else. */
export function parseSourceJob(request: string | null): SourceJob | null {
  const stored: unknown = JSON.parse(request ?? 'null')
  return Value.Check(storedJob, stored) ? stored : null
}
