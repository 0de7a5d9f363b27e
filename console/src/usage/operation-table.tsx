import type { Usage } from '../api/records.ts'
import { Empty } from '../components/empty.tsx'
import { Scroll } from '../components/scroll.tsx'
import { count } from '../words.ts'

export function OperationTable({ operations }: { operations: Usage['operations'] }) {
  if (operations.length === 0) return <Empty title="No calls in these days" />
  return (
    <Scroll label="Usage by operation">
      <table>
        <thead>
          <tr>
            <th scope="col">Operation</th>
            <th scope="col">Dataset</th>
            <th scope="col">Format</th>
            <th scope="col" className="number">
              Calls
            </th>
            <th scope="col" className="number">
              Credits
            </th>
          </tr>
        </thead>
        <tbody>
          {operations.map(({ operation, table, format, calls, credits }) => (
            <tr key={`${operation} ${table} ${format}`}>
              <th scope="row">{operation}</th>
              <td>{table ? <code>{table}</code> : <span className="soft">all</span>}</td>
              <td>{format || <span className="soft">–</span>}</td>
              <td className="number">{count(calls)}</td>
              <td className="number">{count(credits)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
