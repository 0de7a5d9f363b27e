import type { IntegerSize } from '@wayleave/geodata/features'
import type { Column } from '@wayleave/geodata/geometry'
import type { Dataset } from '../../data/catalog/dataset.ts'
import { ROOT } from '../write/links.ts'

/**
 * The JSON Schema of a feature as it is in a GeoJSON page: the columns are in `properties.properties`. GDAL
 * reads the types of columns here; without it GDAL guesses them from the first features, so a column that is
 * null in all of them would be text.
 *
 * GDAL understands one type per column and no list of types, so that a value may be null is said by
 * `nullable`, as in OpenAPI.
 *
 * A first column that is named `id` is not listed: GDAL 3.12 takes it for the ids of the features, adds a column for
 * them and then leaves both of them empty.
 */
export function featureSchema(dataset: Dataset, base: string, sizes: readonly (IntegerSize | null)[]) {
  const { table, title, description, manifest } = dataset
  const { columns, geometryType, geometryTypes, id } = manifest
  const listed = columns.filter(({ name }, i) => i > 0 || name !== 'id')
  const sizeOf = (column: Column) => sizes[columns.indexOf(column)] ?? null
  const entries = listed.map((column): [string, object] => [
    column.name,
    { title: column.name, ...valueSchema(column, sizeOf(column)), nullable: column.nullable },
  ])
  const shapes = geometryTypes.map((type) => ({ $ref: `https://geojson.org/schema/${type}.json` }))
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `${base}${ROOT}/collections/${table}/feature-schema`,
    title,
    ...(description === '' ? {} : { description }),
    type: 'object',
    required: ['type', 'id', 'geometry', 'properties'],
    properties: {
      type: { type: 'string', enum: ['Feature'] },
      id: { type: id.type === 'integer' ? 'integer' : 'string' },
      geometry: geometryType === null ? { type: 'null' } : { oneOf: [{ type: 'null' }, ...shapes] },
      // Made from entries: a column may be named like a built-in member of objects, such as `__proto__`.
      properties: {
        type: 'object',
        properties: Object.fromEntries(entries),
        required: listed.map(({ name }) => name),
      },
    },
  }
}

function valueSchema({ type }: Column, size: IntegerSize | null): object {
  switch (type) {
    case 'integer':
      // GDAL stores an `integer` in 32 bits and cuts off larger values; a `number` is a double.
      return { type: size === 'int32' || size === null ? 'integer' : 'number' }
    case 'text':
      return { type: 'string' }
    case 'date':
      return { type: 'string', format: 'date' }
    case 'timestamp':
      return { type: 'string', format: 'date-time' }
    case 'json':
      return {}
    case 'boolean':
    case 'number':
      return { type }
  }
}
