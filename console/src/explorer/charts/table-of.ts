import type { Chart } from './chart.ts'
import type { ChartData } from './chart-data.ts'
import { valueTitle } from './chart-words.ts'

export type Cell = string | number | null

export interface ChartRows {
  heads: string[]
  rows: { cells: Cell[][]; numbers: number }
}

/** The rows of a chart's table and of its CSV file, one for each mark. */
export function tableOf(chart: Chart, { marks }: ChartData): ChartRows {
  const isBox = chart.kind === 'box'
  const isCounts = chart.measure === 'count' && !isBox && chart.kind !== 'points'
  const values = isBox
    ? ['5 %', '25 %', 'Median', '75 %', '95 %'].map((name) => `${name} of ${chart.of}`)
    : isCounts
      ? []
      : [valueTitle(chart)]
  const cells = marks.map((mark): Cell[] => [
    mark.group,
    ...(chart.by ? [mark.part] : []),
    ...(isBox ? (mark.box ?? [null, null, null, null, null]) : isCounts ? [] : [mark.value]),
    mark.rows,
  ])
  return {
    heads: [chart.column, ...(chart.by ? [chart.by] : []), ...values, 'Rows'],
    rows: { cells, numbers: values.length + 1 },
  }
}

/** As RFC 4180 has it. A text that a spreadsheet would run as a formula gets an apostrophe. */
export function csvOf(chart: Chart, data: ChartData): string {
  const { heads, rows } = tableOf(chart, data)
  return [heads, ...rows.cells].map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('')
}

function csvCell(cell: Cell): string {
  if (typeof cell !== 'string') return cell === null ? '' : String(cell)
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
