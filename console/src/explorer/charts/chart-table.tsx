import { count } from '../../words.ts'
import type { Chart } from './chart.ts'
import type { ChartData, Mark } from './chart-data.ts'
import { chartTitle } from './chart-words.ts'
import { tableOf } from './table-of.ts'

/** The numbers of a chart, for those who cannot see or point at it. The first cell of a row filters by its group. */
export function ChartTable({
  chart,
  data,
  onPick,
}: {
  chart: Chart
  data: ChartData
  onPick: ((mark: Mark, isAdded: boolean) => void) | null
}) {
  const { heads, rows } = tableOf(chart, data)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section className="chart-table" aria-label={`${chartTitle(chart)}: table`} tabIndex={0}>
      <table className="data">
        <thead>
          <tr>
            {heads.map((head, index) => (
              <th
                key={head}
                scope="col"
                className={index < heads.length - rows.numbers ? undefined : 'number'}
              >
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.cells.map((cells, index) => {
            const mark = data.marks[index]!
            return (
              <tr key={`${mark.group}/${mark.part}/${mark.value}`}>
                <th scope="row" dir="auto">
                  {onPick && mark.clauses ? (
                    <button
                      type="button"
                      className="link"
                      title="Filter by it"
                      onClick={(event) => onPick(mark, event.ctrlKey || event.metaKey || event.shiftKey)}
                    >
                      {cells[0]}
                    </button>
                  ) : (
                    cells[0]
                  )}
                </th>
                {cells.slice(1).map((cell, at) => (
                  <td
                    key={heads[at + 1]}
                    className={typeof cell === 'number' ? 'number' : undefined}
                    dir="auto"
                  >
                    {typeof cell === 'number' ? count(cell) : (cell ?? '–')}
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </section>
  )
}
