import type { Column } from '@wayleave/geodata/feature.ts'
import type { Manifest } from '@wayleave/geodata/snapshot/manifest.ts'
import type { Dataset } from '../../catalog/dataset.ts'
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

/** What a feature is made of, what it can be filtered by, or what it can be sorted by, as JSON Schema. */
export function collectionSchema(kind: SchemaKind, dataset: Dataset, base: string) {
  const { manifest } = dataset
  const columns =
    kind === 'sortables' ? manifest.columns.filter(({ type }) => isSortable(type)) : manifest.columns
  const withGeometry = kind !== 'sortables' && manifest.geometryType !== null
  const sequence = (place: number) => (kind === 'schema' ? { 'x-ogc-propertySeq': place } : {})
  const entries: [string, object][] = columns.map((column, i) => [
    column.name,
    { title: column.name, ...TYPES[column.type], ...roleOf(column, manifest), ...sequence(i + 1) },
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
    // Not member by member: a column may bear the name of an object's own workings.
    properties: Object.fromEntries(entries),
    ...(kind === 'schema' && required.length > 0 ? { required } : {}),
    additionalProperties: false,
  }
}

function roleOf({ name, type }: Column, { id, timeColumn }: Manifest): object {
  // The standard admits integers and strings alone for ids, which is how features have these too.
  const mayBeId = type !== 'number' && type !== 'boolean' && type !== 'json'
  if (name === id.column && mayBeId) return { 'x-ogc-role': 'id' }
  if (name === timeColumn && (type === 'date' || type === 'timestamp'))
    return { 'x-ogc-role': 'primary-instant' }
  return {}
}

/** A type with its multi-type has a format of its own; other mixtures have one for all. */
function geometryFormat({ geometryTypes }: Manifest): string {
  const [first, second, ...more] = geometryTypes
  if (first === undefined || more.length > 0) return 'geometry-any'
  if (second === undefined) return `geometry-${first.toLowerCase()}`
  return second === `Multi${first}` ? `geometry-${first}-or-${second}`.toLowerCase() : 'geometry-any'
}
