import type { Column } from '@wayleave/client'
import { Scroll } from '../components/scroll.tsx'

export function ColumnTable({ columns }: { columns: Column[] }) {
  return (
    <div className="card flush">
      <Scroll label="Columns">
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Type</th>
              <th scope="col">Nulls</th>
            </tr>
          </thead>
          <tbody>
            {columns.map(({ name, type, nullable }) => (
              <tr key={name}>
                <th scope="row">
                  <code>{name}</code>
                </th>
                <td>{type}</td>
                <td>{nullable ? 'May be null' : <span className="soft">Never null</span>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </div>
  )
}
