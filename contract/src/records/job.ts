import { type Static, type TObject, Type } from 'typebox'
import { JOB_KINDS, JOB_STATES } from '../job-states.ts'
import { columnSchema } from './dataset.ts'
import { crsTransformationSchema, inspectionSchema, rowProblemSchema } from './inspection.ts'
import { nullable, oneOf } from './schema-parts.ts'

const progress = Type.Object({
  phase: oneOf(['reading', 'sorting', 'indexing']),
  rows: Type.Integer(),
  bytesRead: Type.Integer(),
  totalBytes: nullable(Type.Integer()),
  fraction: Type.Optional(
    nullable(
      Type.Number({
        description: 'How much of all work is done, from 0 to 1; null while that is not known.',
      }),
    ),
  ),
  parts: Type.Optional(
    Type.Object(
      { done: Type.Integer(), total: Type.Integer() },
      { description: 'While several workers read the source: how many of its parts are read.' },
    ),
  ),
  remainingSeconds: Type.Optional(
    nullable(Type.Integer({ description: 'How long the rest takes, estimated by the rate so far.' })),
  ),
})

const report = Type.Object({
  table: Type.String(),
  version: nullable(Type.Integer({ description: 'Null after a dry run, which makes no version.' })),
  file: Type.String(),
  format: Type.String(),
  rows: Type.Integer(),
  skipped: Type.Integer({ description: 'Rows that were left out; `problems` has the first reasons.' }),
  problems: Type.Array(rowProblemSchema),
  geometryType: nullable(Type.String()),
  geometryTypes: Type.Array(Type.String()),
  crs: nullable(Type.String()),
  crsTransformation: crsTransformationSchema,
  columns: Type.Array(columnSchema),
  notes: Type.Array(Type.String()),
  isDraft: Type.Optional(Type.Boolean({ description: 'The version waits for its release.' })),
  changes: Type.Optional(
    Type.Object(
      { added: Type.Integer(), updated: Type.Integer(), removed: Type.Integer() },
      { description: 'What an append or an update has changed, in rows.' },
    ),
  ),
  seconds: Type.Number(),
})

export type PublishReportRecord = Static<typeof report>

const failure = Type.Object({
  detail: Type.String(),
  problems: Type.Optional(
    Type.Array(rowProblemSchema, { description: 'The first rows that cannot be published.' }),
  ),
  problemCount: Type.Optional(Type.Integer({ description: 'The number of all such rows.' })),
  misfits: Type.Optional(
    Type.Array(Type.String(), { description: 'How the file differs from the schema of the dataset.' }),
  ),
})

/** Jobs of older releases are stored without fields that came later, so nothing is required when it is sent. */
const stored = <T extends TObject>(schema: T) =>
  nullable(
    Type.Unsafe<Static<T>>({ type: 'object', properties: schema.properties, additionalProperties: true }),
  )

export const jobSchema = Type.Object({
  id: Type.String(),
  kind: oneOf(JOB_KINDS),
  table: Type.String(),
  state: oneOf(JOB_STATES),
  progress: stored(progress),
  report: stored(report),
  inspection: stored(inspectionSchema),
  problem: stored(failure),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})

/** A job: the report and the rows with problems are those of a publishing, the inspection that of an inspected file. */
export type JobRecord = Static<typeof jobSchema>
