import { type Static, type TObject, Type } from 'typebox'
import { JOB_KINDS, JOB_STATES, type JobState } from '../job-states.ts'
import { columnSchema } from './dataset.ts'
import { nullable, oneOf } from './schema-parts.ts'

const rowProblem = Type.Object({ row: Type.Integer(), message: Type.String() })

/** Why a row of the source cannot be published. */
export type RowProblem = Static<typeof rowProblem>

const progress = Type.Object({
  phase: oneOf(['reading', 'sorting', 'indexing']),
  rows: Type.Integer(),
  bytesRead: Type.Integer(),
  totalBytes: nullable(Type.Integer()),
})

const report = Type.Object({
  table: Type.String(),
  version: nullable(Type.Integer({ description: 'Null after a dry run, which makes no version.' })),
  file: Type.String(),
  format: Type.String(),
  rows: Type.Integer(),
  skipped: Type.Integer({ description: 'Rows that were left out; `problems` has the first reasons.' }),
  problems: Type.Array(rowProblem),
  geometryType: nullable(Type.String()),
  geometryTypes: Type.Array(Type.String()),
  crs: nullable(Type.String()),
  crsTransformation: nullable(
    Type.Object({
      name: Type.String(),
      accuracy: nullable(Type.Number({ description: 'In metres; null if it is not known.' })),
    }),
  ),
  columns: Type.Array(columnSchema),
  notes: Type.Array(Type.String()),
  seconds: Type.Number(),
})

export type PublishReportRecord = Static<typeof report>

const failure = Type.Object({
  detail: Type.String(),
  problems: Type.Optional(
    Type.Array(rowProblem, { description: 'The first rows that cannot be published.' }),
  ),
  problemCount: Type.Optional(Type.Integer({ description: 'The number of all such rows.' })),
})

/** Jobs of older releases are stored without fields that came later, so nothing is required when it is sent. */
const stored = <T extends TObject>(schema: T) =>
  nullable(
    Type.Unsafe<Static<T>>({ type: 'object', properties: schema.properties, additionalProperties: true }),
  )

/** Whether a job in this state changes no more. */
export function isJobEnded(state: JobState): boolean {
  return state !== 'waiting' && state !== 'running'
}

export const jobSchema = Type.Object({
  id: Type.String(),
  kind: oneOf(JOB_KINDS),
  table: Type.String(),
  state: oneOf(JOB_STATES),
  progress: stored(progress),
  report: stored(report),
  problem: stored(failure),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})

/** A job: the report and the rows with problems are those of a publishing. */
export type JobRecord = Static<typeof jobSchema>
