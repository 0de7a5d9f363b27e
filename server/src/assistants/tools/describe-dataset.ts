import type { DatasetDetails } from '@wayleave/contract/records'
import { z } from 'zod'
import { RefusedCall } from '../own-api.ts'
import { cell, plain, quoted, table } from '../plain-text.ts'
import { defineTool, MAX_RESULT } from '../tool.ts'
import { tableInput } from './inputs.ts'

const MAX_SAMPLE = 5
const MAX_FREQUENT = 6

export const describeDataset = defineTool({
  name: 'describe_dataset',
  title: 'Describe a dataset',
  description:
    'What a dataset is about, its license and price, and for each column: type, unit, range, number of different values and the most frequent ones; some rows, and examples of filters. Call it before you query or aggregate, so that you use the right column names and values.',
  input: z.object({ table: tableInput }),
  run: async ({ api }, { table: name }) => {
    const path = `/v1/dataset/${encodeURIComponent(name)}`
    const dataset = await api.get<DatasetDetails>(path)
    const sample = dataset.sample === null ? [] : await readSample(() => api.get(`${path}/sample/json`))
    return [
      ...about(dataset),
      '',
      'Columns:',
      columns(dataset),
      ...examples(dataset),
      ...(sample.length > 0 ? ['', 'Some rows:', sampleTable(dataset, sample)] : []),
    ].join('\n')
  },
})

async function readSample(
  read: () => Promise<Record<string, unknown>[]>,
): Promise<Record<string, unknown>[]> {
  try {
    return (await read()).slice(0, MAX_SAMPLE)
  } catch (error) {
    // The description is worth reading without it.
    if (error instanceof RefusedCall) return []
    throw error
  }
}

function about(dataset: DatasetDetails): string[] {
  const { bbox, timeExtent, credits, license, attribution, access } = dataset
  const lines = [
    `${dataset.table}: ${quoted(dataset.title, 200)}`,
    `${dataset.rows} rows, ${dataset.geometryType ?? 'no geometry'}, version ${dataset.version} of ${dataset.updatedAt.slice(0, 10)}.`,
  ]
  if (dataset.description !== '') lines.push(`Description: ${quoted(dataset.description, 2000)}`)
  if (license !== '') lines.push(`License: ${quoted(license, 200)}`)
  if (attribution !== '') lines.push(`To be named as its source: ${quoted(attribution, 300)}`)
  if (bbox) lines.push(`Extent (west, south, east, north): ${bbox.join(', ')}`)
  if (timeExtent) lines.push(`Time: ${timeExtent.join(' to ')}`)
  lines.push(`One download costs ${credits} credits. Querying and aggregating cost none.`)
  if (!access.includes('features')) {
    lines.push(
      'Its rows cannot be queried with the present credentials: only this description and the sample.',
    )
  }
  return lines
}

function columns({ columns, statistics }: DatasetDetails): string {
  const head = [
    'name',
    'type',
    'unit',
    'missing',
    'different values',
    'min',
    'max',
    'mean',
    'frequent',
    'about',
  ]
  const rows = columns.map(({ name, type, unit, title, description }) => {
    const known = statistics?.[name]
    const frequent = known?.frequent
      ?.slice(0, MAX_FREQUENT)
      .map(({ value, count }) => `${cell(value)} (${count})`)
    const words = [title, description].filter((text) => text !== undefined).join(': ')
    return [
      name,
      type,
      unit ?? '',
      known?.nulls,
      known && `${known.isExact ? '' : 'about '}${known.distinct}`,
      known?.min,
      known?.max,
      known?.mean,
      frequent?.join('; '),
      plain(words, 200),
    ]
  })
  const fitted = table(head, rows, MAX_RESULT / 2)
  const left = rows.length - fitted.rows
  return left > 0 ? `${fitted.text}\n(${left} more columns are left out.)` : fitted.text
}

/** Conditions that are true for some rows of this dataset. */
function examples({ columns, statistics }: DatasetDetails): string[] {
  const conditions: string[] = []
  for (const { name, type } of columns) {
    if (name !== plain(name, 100)) continue
    const known = statistics?.[name]
    const column = /^[a-z_][a-z0-9_]*$/i.test(name) ? name : `"${name.replaceAll('"', '""')}"`
    if ((type === 'integer' || type === 'number') && known?.mean !== undefined) {
      conditions.push(
        `${column} > ${type === 'integer' ? Math.round(known.mean) : Number(known.mean.toPrecision(3))}`,
      )
    } else if (type === 'text' && typeof known?.frequent?.[0]?.value === 'string') {
      const value = known.frequent[0].value
      if (value === plain(value, 60)) conditions.push(`${column} = '${value.replaceAll("'", "''")}'`)
    } else if (type === 'date' && typeof known?.max === 'string') {
      conditions.push(`${column} >= DATE('${known.max.slice(0, 4)}-01-01')`)
    } else if (type === 'timestamp' && typeof known?.max === 'string') {
      conditions.push(`${column} >= TIMESTAMP('${known.max.slice(0, 4)}-01-01T00:00:00Z')`)
    }
    if (conditions.length === 4) break
  }
  return conditions.length === 0 ? [] : ['', `Examples of filters: ${conditions.join(' ;  ')}`]
}

function sampleTable({ columns }: DatasetDetails, rows: Record<string, unknown>[]): string {
  const names = columns.map(({ name }) => name)
  const values = rows.map((row) => names.map((name) => row[name]))
  return table(names, values, MAX_RESULT / 4).text
}
