import { z } from 'zod'
import { table as asTable } from '../plain-text.ts'
import { defineTool, MAX_RESULT } from '../tool.ts'
import { rowsInput, rowsQuery, tableInput } from './inputs.ts'

interface Groups {
  columns: { name: string; type: string; unit?: string }[]
  rows: unknown[][]
  numberGroups: number
}

const terms = z.array(z.string().min(1).max(300))

export const aggregate = defineTool({
  name: 'aggregate',
  title: 'Aggregate',
  description:
    'Answers over all rows that match: how many, how much, the mean, the largest, per group. Exact, and computed by the service; prefer it to reading rows and counting them.',
  input: z.object({
    table: tableInput,
    groupby: terms
      .max(3)
      .default([])
      .describe(
        'Up to three groupings: a column (continent); a number in intervals of a width (interval(magnitude,1)) or of equal counts (quantile(magnitude,4)); a time by year(time), quarter, month, week, day, hour or weekday(time), where 1 is Monday; cells of the map (tile(5) or h3(4)); the areas of another dataset that a row lies in, with a column of it as label (within(countries,name)). Without it, there is one row for all.',
      ),
    measures: terms
      .min(1)
      .max(20)
      .default(['count'])
      .describe(
        'What to compute for each group: count, distinct(name), sum(population), mean(population), min(…), max(…), median(…), percentile(population,95), stddev(…), first(name,time), last(name,time); for geometries area in m² and length in m.',
      ),
    ...rowsInput,
    having: z.string().max(2000).optional().describe('Only groups for which this holds, such as: count > 10'),
    sortby: z
      .string()
      .max(500)
      .optional()
      .describe(
        'The measure or grouping to sort by, with - for the largest first, such as: -sum(population)',
      ),
    limit: z.int().min(1).max(1000).default(50).describe('How many groups.'),
  }),
  run: async ({ api }, input) => {
    const path = `/v1/ogc/collections/${encodeURIComponent(input.table)}/aggregate`
    const groups = await api.get<Groups>(path, {
      ...rowsQuery(input),
      f: 'json',
      groupby: input.groupby.length > 0 ? JSON.stringify(input.groupby) : undefined,
      measures: JSON.stringify(input.measures),
      having: input.having,
      sortby: input.sortby,
      limit: String(input.limit),
    })
    const head = groups.columns.map(({ name, unit }) => (unit ? `${name} [${unit}]` : name))
    const { text, rows } = asTable(head, groups.rows, MAX_RESULT)
    const left = groups.numberGroups - rows
    return [
      text,
      left > 0
        ? `${rows} of ${groups.numberGroups} groups are shown. Sort by a measure, ask for fewer groups with having, or raise limit.`
        : '',
    ]
      .filter((line) => line !== '')
      .join('\n')
  },
})
