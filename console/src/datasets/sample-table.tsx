import type { Dataset, Row } from '@wayleave/client'
import { useSample } from '../api/queries.ts'
import { Empty } from '../components/empty.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Scroll } from '../components/scroll.tsx'
import { plural } from '../words.ts'
import { cellText } from './cell-text.ts'

const SHOWN = 25

/** The rows of the free sample, without the geometry, which is on the map. */
export function SampleTable({ dataset }: { dataset: Dataset }) {
  const sample = useSample(dataset.table, dataset.version, dataset.sample !== null)
  if (dataset.sample === null) return <Empty title="The publisher gives no sample of this dataset" />
  return (
    <div className="card flush">
      <Loaded query={sample} lines={8}>
        {(rows) => (
          <>
            <Rows rows={rows.slice(0, SHOWN)} />
            <p className="padded small soft">
              {rows.length > SHOWN ? `${SHOWN} of ${plural(rows.length, 'row')}` : plural(rows.length, 'row')}{' '}
              of the free sample: <a href={new URL(dataset.sample!).pathname}>all of it as JSON</a>
            </p>
          </>
        )}
      </Loaded>
    </div>
  )
}

function Rows({ rows }: { rows: Row[] }) {
  const names = Object.keys(rows[0] ?? {}).filter((name) => name !== 'geometry')
  const numbers = new Set(names.filter((name) => rows.some((row) => typeof row[name] === 'number')))
  const numeric = (name: string) => (numbers.has(name) ? 'number' : undefined)
  return (
    <Scroll label="Sample">
      <table className="data">
        <thead>
          <tr>
            {names.map((name) => (
              <th key={name} scope="col" className={numeric(name)}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {names.map((name) => (
                <td key={name} className={numeric(name)}>
                  {cellText(row[name])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
