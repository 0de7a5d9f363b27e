import { z } from 'zod'
import { cell, plain } from '../plain-text.ts'
import { defineTool, MAX_RESULT } from '../tool.ts'
import { tableInput } from './inputs.ts'

interface Feature {
  properties: Record<string, unknown>
  geometry: unknown
}

export const getFeature = defineTool({
  name: 'get_feature',
  title: 'Get one feature',
  description: 'One row of a dataset by its id, as query_features lists it, with all columns in full length.',
  input: z.object({
    table: tableInput,
    id: z
      .union([
        z
          .string()
          .max(1000)
          .refine((id) => id.isWellFormed() && !/^\.{0,2}$/.test(id)),
        z.int(),
      ])
      .describe('The id of the row.'),
    geometry: z.boolean().default(true).describe('Also the geometry, as GeoJSON.'),
  }),
  run: async ({ api }, { table, id, geometry }) => {
    const path = `/v1/ogc/collections/${encodeURIComponent(table)}/items/${encodeURIComponent(String(id))}`
    const feature = await api.get<Feature>(path, { f: 'json' })
    const lines = Object.entries(feature.properties).map(
      ([name, value]) =>
        `${cell(name)}: ${plain(typeof value === 'string' ? value : JSON.stringify(value), 4000)}`,
    )
    const shape = geometry ? JSON.stringify(feature.geometry) : ''
    const properties = lines.join('\n').slice(0, MAX_RESULT / 2)
    if (shape === '') return properties
    return shape.length > MAX_RESULT / 2
      ? `${properties}\ngeometry: left out, it has ${shape.length} characters`
      : `${properties}\ngeometry: ${shape}`
  },
})
