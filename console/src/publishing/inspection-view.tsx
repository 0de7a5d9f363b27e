import { extentText } from '@wayleave/contract/extent-text'
import type { InspectionRecord, PublishingSchema } from '@wayleave/contract/records'
import { publishWords } from '../administration/publish-words.ts'
import type { ReadingChoices } from '../administration/reading-choices.ts'
import { Scroll } from '../components/scroll.tsx'
import { type Box, SmallMap } from '../datasets/small-map.tsx'
import { bytes, count, plural, shapeName } from '../words.ts'
import { ColumnCorrections } from './column-corrections.tsx'
import type { Corrections } from './corrections.ts'
import { RoleFields } from './role-fields.tsx'

/** What an inspected file contains: facts, a small map, its columns with corrections, its first rows and problems. */
export function InspectionView({
  inspection,
  corrections,
  onCorrections,
  stored,
  reading,
  onReading,
  onIgnoreSchema,
}: {
  inspection: InspectionRecord
  corrections: Corrections
  onCorrections: (value: Corrections) => void
  /** The schema that the dataset has. */
  stored: PublishingSchema | null
  reading: ReadingChoices
  onReading: (value: ReadingChoices) => void
  /** Publishes although the file differs from the schema; undefined if that is chosen. */
  onIgnoreSchema: (() => void) | undefined
}) {
  const { bbox, places, columns, notes, misfits } = inspection
  const words = new Map(stored?.columns.map((column) => [column.source ?? column.name, column]))
  return (
    <section className="card stack inspection" aria-label="What the file contains">
      <h2>What the file contains</h2>
      <div className="inspection-head">
        <Facts inspection={inspection} />
        {bbox && (
          <div className="preview">
            <SmallMap bbox={bbox as Box}>
              <path className="shapes extent" d={outlineOf(bbox as Box)} />
              <path className="dots" d={places.map(([x, y]) => `M${x} ${-y!}h0`).join('')} />
            </SmallMap>
          </div>
        )}
      </div>
      {misfits.length > 0 && (
        <div className="note bad" role="alert">
          <p>The file differs from the schema of the dataset:</p>
          <Sentences sentences={misfits} />
          {onIgnoreSchema && (
            <button type="button" className="button small" onClick={onIgnoreSchema}>
              Publish it nevertheless
            </button>
          )}
        </div>
      )}
      <Problems
        inspection={inspection}
        skips={reading.skipInvalid}
        onSkip={(skipInvalid) => onReading({ ...reading, skipInvalid })}
      />
      <h3>Columns</h3>
      <p className="small soft">What you correct here is kept for later versions of the dataset.</p>
      <ColumnCorrections columns={columns} value={corrections} words={words} onChange={onCorrections} />
      <RoleFields columns={columns} value={reading} onChange={onReading} />
      <FirstRows inspection={inspection} />
      {notes.length > 0 && (
        <>
          <h3>What would be changed</h3>
          <Sentences sentences={notes} />
        </>
      )}
    </section>
  )
}

function outlineOf([west, south, east, north]: Box): string {
  return `M${west} ${-south}H${east}V${-north}H${west}Z`
}

function Facts({ inspection }: { inspection: InspectionRecord }) {
  const { rows, format, file, crs, bbox, timeColumn, unlocated = 0 } = inspection
  const facts: [string, string | null][] = [
    ['File', `${file} (${format}, ${bytes(inspection.bytes)})`],
    ['Rows', count(rows)],
    ['Kind', shapeName(inspection)],
    [
      'Not on the map',
      unlocated === 0 ? null : `${plural(unlocated, 'row')} without ${withoutWhat(inspection)}`,
    ],
    ['CRS', crs],
    ['Extent', bbox && extentText(bbox)],
    ['Times in', timeColumn],
  ]
  return (
    <dl className="facts">
      {facts.map(([name, value]) =>
        value === null ? null : (
          <div key={name} className="fact">
            <dt>{name}</dt>
            <dd dir="auto">{value}</dd>
          </div>
        ),
      )}
    </dl>
  )
}

/** Points of a table are written as coordinates. */
function withoutWhat({ geometryTypes }: InspectionRecord): string {
  return geometryTypes.every((type) => type === 'Point') ? 'coordinates' : 'a geometry'
}

function Problems({
  inspection: { problems, problemCount, rows },
  skips,
  onSkip,
}: {
  inspection: InspectionRecord
  skips: boolean
  onSkip: (skips: boolean) => void
}) {
  if (problemCount === 0) return null
  return (
    <div className="note bad" role="alert">
      <p>{plural(problemCount, 'row')} cannot be published:</p>
      <ul className="small">
        {problems.slice(0, 10).map(({ row, message }) => (
          <li key={`${row} ${message}`}>
            Row {count(row)}: {publishWords(message)}
          </li>
        ))}
        {problemCount > 10 && <li>…</li>}
      </ul>
      {rows > 0 && (
        <label className="choice">
          <input type="checkbox" checked={skips} onChange={(event) => onSkip(event.target.checked)} />
          Publish the {count(rows)} valid {rows === 1 ? 'row' : 'rows'}
        </label>
      )}
    </div>
  )
}

function FirstRows({ inspection: { preview, columns } }: { inspection: InspectionRecord }) {
  if (preview.length === 0) return null
  const hasGeometry = preview.some(({ geometry }) => geometry !== null)
  return (
    <>
      <h3>First rows</h3>
      <Scroll label="First rows">
        <table className="first-rows">
          <thead>
            <tr>
              <th scope="col">Row</th>
              {columns.map(({ source, name }) => (
                <th key={source} scope="col" dir="auto">
                  {name}
                </th>
              ))}
              {hasGeometry && <th scope="col">Geometry</th>}
            </tr>
          </thead>
          <tbody>
            {preview.map(({ row, values, geometry }) => (
              <tr key={row}>
                <th scope="row">{count(row)}</th>
                {columns.map(({ source }, i) => (
                  <td key={source} dir="auto">
                    {values[i] ?? <span className="soft">–</span>}
                  </td>
                ))}
                {hasGeometry && <td>{geometry ?? <span className="soft">–</span>}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  )
}

function Sentences({ sentences }: { sentences: readonly string[] }) {
  return (
    <ul className="small">
      {sentences.map((sentence) => (
        <li key={sentence}>{publishWords(sentence)}</li>
      ))}
    </ul>
  )
}
