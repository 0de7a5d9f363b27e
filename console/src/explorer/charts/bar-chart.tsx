import { count } from '../../words.ts'
import type { Value } from '../filter/cql2-text.ts'

/** Horizontal bars: the most frequent values with their numbers of rows. */
export function BarChart({
  column,
  values,
  others,
}: {
  column: string
  values: { value: Value; count: number }[]
  others: number
}) {
  const max = Math.max(1, ...values.map(({ count }) => count))
  return (
    <table className="bar-chart" aria-label={`Rows by ${column}`}>
      <tbody>
        {values.map(({ value, count: rows }) => (
          <tr key={`${typeof value}${value}`}>
            <th scope="row" className="bar-name" dir="auto" title={String(value)}>
              {value === '' ? '(empty)' : String(value)}
            </th>
            <td className="bar-cell">
              <span style={{ width: `${(rows / max) * 100}%` }} />
            </td>
            <td className="number">{count(rows)}</td>
          </tr>
        ))}
        {others > 0 && (
          <tr className="soft">
            <th scope="row" className="bar-name">
              other values
            </th>
            <td />
            <td className="number">{count(others)}</td>
          </tr>
        )}
      </tbody>
    </table>
  )
}
