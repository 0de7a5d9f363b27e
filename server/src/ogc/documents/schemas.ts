import type { Column } from '@wayleave/geodata/geometry'
import { exportColumns, idQueryable, type Manifest } from '@wayleave/geodata/snapshot'
import type { Dataset } from '../../data/catalog/dataset.ts'
import { isSortable } from '../request/sort-keys.ts'
import { ROOT } from '../write/links.ts'

const TYPES: { [type in Column['type']]: object } = {
  boolean: { type: 'boolean' },
  integer: { type: 'integer' },
  number: { type: 'number' },
  text: { type: 'string' },
  date: { type: 'string', format: 'date' },
  timestamp: { type: 'string', format: 'date-time' },
  json: { type: ['object', 'array', 'string', 'number', 'boolean'] },
}

export type SchemaKind = 'schema' | 'queryables' | 'sortables'

/** The JSON Schema of a collection's features, of its queryables or of its sortables. */
export function collectionSchema(kind: SchemaKind, dataset: Dataset, base: string) {
  const { manifest } = dataset
  const all = namedColumns(kind, manifest)
  const columns = kind === 'sortables' ? all.filter(({ type }) => isSortable(type)) : all
  const withGeometry = kind !== 'sortables' && manifest.geometryType !== null
  const sequence = (place: number) => (kind === 'schema' ? { 'x-ogc-propertySeq': place } : {})
  const entries: [string, object][] = columns.map((column, i) => [
    column.name,
    { ...noteOf(column, dataset), ...TYPES[column.type], ...roleOf(column, manifest), ...sequence(i + 1) },
  ])
  if (withGeometry) {
    const format = geometryFormat(manifest)
    const role = { 'x-ogc-role': 'primary-geometry', ...sequence(columns.length + 1) }
    entries.push(['geometry', { title: 'geometry', format, ...role }])
  }
  const required = columns.filter(({ nullable }) => !nullable).map(({ name }) => name)
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `${base}${ROOT}/collections/${dataset.table}/${kind}`,
    title: dataset.title,
    ...(dataset.description === '' ? {} : { description: dataset.description }),
    type: 'object',
    // Not assigned one by one: a column may be named like a built-in member of objects, such as `__proto__`.
    properties: Object.fromEntries(entries),
    ...(kind === 'schema' && required.length > 0 ? { required } : {}),
    additionalProperties: false,
  }
}

/** The columns, and the ids: as a column if they are one, else as something to filter and to sort by. */
function namedColumns(kind: SchemaKind, manifest: Manifest): Column[] {
  if (kind === 'schema') return exportColumns(manifest)
  const id = idQueryable(manifest)
  if (id === null || manifest.columns.some(({ name }) => name === id.name)) return manifest.columns
  return [{ ...id.column, name: id.name }, ...manifest.columns]
}

/** What the publisher says about a column; its name is the title of a column without one. */
function noteOf({ name }: Column, { columnNotes }: Dataset): object {
  const note = columnNotes.of(name)
  return {
    title: note?.title ?? name,
    ...(note?.description !== undefined && { description: note.description }),
    ...(note?.unit !== undefined && { 'x-ogc-unit': note.unit }),
  }
}

function roleOf({ name, type }: Column, { id, timeColumn }: Manifest): object {
  if (name === id.name) return { 'x-ogc-role': 'id' }
  // The standard allows only integers and strings as ids; features have such ids too.
  const mayBeId = type !== 'number' && type !== 'boolean' && type !== 'json'
  if (name === id.column && id.name === undefined && mayBeId) return { 'x-ogc-role': 'id' }
  if (name === timeColumn && (type === 'date' || type === 'timestamp'))
    return { 'x-ogc-role': 'primary-instant' }
  return {}
}

/** A type together with its multi-type has a format of its own; all other mixtures share one. */
function geometryFormat({ geometryTypes }: Manifest): string {
  const [first, second, ...more] = geometryTypes
  if (first === undefined || more.length > 0) return 'geometry-any'
  if (second === undefined) return `geometry-${first.toLowerCase()}`
  return second === `Multi${first}` ? `geometry-${first}-or-${second}`.toLowerCase() : 'geometry-any'
}
