import type { PublishingSchema } from '@wayleave/contract/records'
import {
  type ColumnChoice,
  type ColumnRole,
  type CompileOptions,
  SchemaMismatchError,
} from '@wayleave/geodata/compile'
import type { Manifest } from '@wayleave/geodata/snapshot'
import type { Dataset } from '../../catalog/dataset.ts'
import type { PublishRequest } from '../publish-request.ts'

/** The share of the rows that the next version may lack if the publisher does not say. */
const DEFAULT_MAX_ROW_DROP = 0.5

type Reading = Omit<CompileOptions, 'path' | 'folder'>

/**
 * The options for reading a file: those of the request, otherwise those of the schema. Of the latter, those that do not
 * fit are left out if the publisher asks for it; and an update may lack columns.
 */
export function withSchema(
  options: Reading,
  schema: PublishingSchema | null,
  ignoresMisfits: boolean,
  mode?: PublishRequest['mode'],
): Reading {
  if (schema === null) return options
  const { columns, maxRowDrop: _drop, ...reading } = schema
  const stated = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  // Places are one choice: a request for a column of WKT does not use the longitudes of the schema.
  const statesPlace = ['longitude', 'geometryColumn', 'geometry'].some((name) => name in stated)
  if (statesPlace)
    for (const name of ['longitude', 'latitude', 'geometryColumn'] as const) delete reading[name]
  const mayLackPlace = !statesPlace && (ignoresMisfits || mode === 'update')
  const ignorable: ColumnRole[] = mayLackPlace ? ['coordinates'] : []
  if (ignoresMisfits)
    for (const role of ['idColumn', 'timeColumn'] as const) if (!(role in stated)) ignorable.push(role)
  return { ...reading, ...stated, columns: columns.map(choiceOf), ignoresMisfits, ignorable }
}

function choiceOf({ name, source, type, format, hidden }: PublishingSchema['columns'][number]): ColumnChoice {
  return {
    source: source ?? name,
    name,
    ...(type && { type }),
    ...(format && { format }),
    ...(hidden && { isHidden: true }),
  }
}

/** Throws if the version has unusually fewer rows than the one before. */
export function requireRows(
  schema: PublishingSchema,
  { rows, source }: Manifest,
  current: Dataset | undefined,
): void {
  const misfit = rowMisfit(schema, rows, current)
  if (misfit !== null) throw new SchemaMismatchError(source.file, [misfit])
}

/** What a publisher reads about a version that has unusually fewer rows than the one before; otherwise null. */
export function rowMisfit(
  { maxRowDrop = DEFAULT_MAX_ROW_DROP }: PublishingSchema,
  rows: number,
  current: Dataset | undefined,
): string | null {
  if (current === undefined || rows >= current.manifest.rows * (1 - maxRowDrop)) return null
  const before = current.manifest.rows
  const percent = Math.floor((1 - rows / before) * 100)
  return `It has ${rows} ${rows === 1 ? 'row' : 'rows'}, and version ${current.version} has ${before}: ${percent} % fewer, and the schema allows ${Math.round(maxRowDrop * 100)} %.`
}
