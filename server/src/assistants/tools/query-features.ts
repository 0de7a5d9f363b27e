import { z } from 'zod'
import { cell, table } from '../plain-text.ts'
import { defineTool, MAX_RESULT } from '../tool.ts'
import { rowsInput, rowsQuery, tableInput } from './inputs.ts'

interface FeaturePage {
  features: { id: string | number; properties: Record<string, unknown>; geometry: unknown }[]
  links: { rel: string; href: string }[]
  numberMatched?: number
}

const MAX_GEOMETRY = 2000

export const queryFeatures = defineTool({
  name: 'query_features',
  title: 'Query features',
  description:
    'Rows of a dataset that match a filter, a box or a time, in the order asked for. For a number (how many, how much, the average, per group) call aggregate instead: it reads all rows and returns only the answer.',
  input: z.object({
    table: tableInput,
    ...rowsInput,
    columns: z.array(z.string().max(200)).max(50).optional().describe('Only these columns. Without it, all.'),
    sortby: z
      .string()
      .max(500)
      .optional()
      .describe(
        'Columns to sort by, with - before a column for the largest first, such as: -population,name',
      ),
    limit: z.int().min(1).max(200).default(20).describe('How many rows.'),
    cursor: z.string().max(2000).optional().describe('To continue: the cursor that the result before named.'),
    geometry: z.boolean().default(false).describe('Also the geometry, as GeoJSON.'),
  }),
  run: async ({ api }, input) => {
    const { columns, sortby, limit, cursor, geometry } = input
    const path = `/v1/ogc/collections/${encodeURIComponent(input.table)}/items`
    const page = await api.get<FeaturePage>(path, {
      ...rowsQuery(input),
      f: 'json',
      properties: columns?.join(','),
      sortby,
      limit: String(limit),
      cursor,
      count: 'exact',
    })
    const names = columns ?? [...new Set(page.features.flatMap(({ properties }) => Object.keys(properties)))]
    const rows = page.features.map(({ id, properties, geometry: shape }) => [
      id,
      ...names.map((name) => properties[name]),
      ...(geometry ? [geometryText(shape)] : []),
    ])
    const fitted = table(['id', ...names, ...(geometry ? ['geometry'] : [])], rows, MAX_RESULT)
    return [countText(page, fitted.rows), fitted.text, ...more(page, fitted.rows)].join('\n')
  },
})

function countText({ numberMatched, features }: FeaturePage, shown: number): string {
  const matched = numberMatched === undefined ? '' : `${numberMatched} rows match. `
  const left =
    features.length > shown ? ` ${features.length - shown} of the page are left out for their size.` : ''
  return `${matched}${shown} are shown.${left}`
}

function more({ links, features }: FeaturePage, shown: number): string[] {
  if (shown < features.length)
    return ['Ask for fewer columns, without the geometry, or with a smaller limit.']
  const next = links.find(({ rel }) => rel === 'next')
  const cursor = next && new URL(next.href).searchParams.get('cursor')
  return cursor ? [`For the next rows, call query_features with the same input and cursor "${cursor}".`] : []
}

function geometryText(geometry: unknown): string {
  const text = JSON.stringify(geometry)
  return text.length > MAX_GEOMETRY ? `${cell(text).slice(0, 60)}… (${text.length} characters)` : text
}
