import { type Static, Type } from 'typebox'
import { nullable, oneOf } from './schema-parts.ts'

export const sourceRunSchema = Type.Object({
  id: Type.String(),
  startedAt: Type.String(),
  endedAt: Type.String(),
  outcome: oneOf(['published', 'unchanged', 'failed']),
  isManual: Type.Boolean({ description: 'Whether somebody asked for it; otherwise it was due.' }),
  version: nullable(Type.Integer()),
  rows: nullable(Type.Integer()),
  bytes: nullable(Type.Integer({ description: 'What was fetched.' })),
  problem: nullable(Type.String({ description: 'Why it failed.' })),
})

/** One attempt at refreshing a dataset from its source. */
export type SourceRunRecord = Static<typeof sourceRunSchema>

export const sourceSchema = Type.Object({
  table: Type.String(),
  kind: oneOf(['file', 's3', 'postgres', 'ogc', 'wfs', 'arcgis']),
  address: Type.String({ description: 'Without credentials.' }),
  hasCredentials: Type.Boolean(),
  every: nullable(
    Type.String({
      description:
        'An interval or a cron expression, in UTC or in the zone of `CRON_TZ=`; null: only by hand.',
    }),
  ),
  options: Type.Record(Type.String(), Type.Unknown(), { description: 'How the source is read.' }),
  nextRunAt: nullable(Type.String()),
  failures: Type.Integer({ description: 'How many runs have failed since the last success.' }),
  lastRun: nullable(sourceRunSchema),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})

/** The address that a dataset is refreshed from. */
export type SourceRecord = Static<typeof sourceSchema>
