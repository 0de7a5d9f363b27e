import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ArchiveRecord } from '@wayleave/contract/records'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { Loaded } from '../components/page/loaded.tsx'
import { Scroll } from '../components/scroll.tsx'
import { cellText } from '../datasets/cell-text.ts'
import { type Box, SmallMap } from '../datasets/small-map.tsx'
import { count } from '../words.ts'
import { type Geometry, placeOf } from './place-of.ts'

interface Items {
  numberMatched: number
  numberReturned: number
  features: { id: string | number; geometry: Geometry | null; properties: Record<string, unknown> }[]
}

const PAGE = 20
/** Features on the map. */
const PLACES = 1000

function useDraftItems(table: string, version: number, query: string, enabled = true) {
  return useQuery({
    queryKey: ['archives', table, 'draft', version, query],
    queryFn: () => call<Items>('GET', `/v1/dataset/${table}/draft/items?${query}`),
    placeholderData: keepPreviousData,
    enabled,
  })
}

/** The rows of a draft and where they are, for those who decide on its release. */
export function DraftPreview({ table, draft }: { table: string; draft: ArchiveRecord }) {
  const { version, rows, bbox, columns } = draft
  const [offset, setOffset] = useState(0)
  const items = useDraftItems(table, version, `limit=${PAGE}&offset=${offset}`)
  return (
    <section className="card stack inspection" aria-label="What the draft contains">
      {bbox && <DraftMap table={table} version={version} rows={rows} bbox={bbox as Box} />}
      <Loaded query={items} lines={5}>
        {({ features, numberReturned }) => (
          <>
            <Scroll label="Rows of the draft">
              <table className="first-rows">
                <thead>
                  <tr>
                    {['Id', ...columns.map(({ name }) => name)].map((name, i) => (
                      <th key={i} scope="col" dir="auto">
                        {name}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {features.map(({ id, properties }) => (
                    <tr key={id}>
                      <th scope="row">{String(id)}</th>
                      {columns.map(({ name }) => (
                        <td key={name} dir="auto">
                          {cellText(properties[name])}
                        </td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
            <div className="inline-form">
              <button
                type="button"
                className="button small"
                disabled={offset === 0}
                onClick={() => setOffset(Math.max(0, offset - PAGE))}
              >
                Rows before
              </button>
              <button
                type="button"
                className="button small"
                disabled={offset + numberReturned >= rows}
                onClick={() => setOffset(offset + numberReturned)}
              >
                More rows
              </button>
              <span className="small soft">
                {count(offset + 1)} to {count(offset + numberReturned)} of {count(rows)}
              </span>
            </div>
          </>
        )}
      </Loaded>
    </section>
  )
}

function DraftMap({
  table,
  version,
  rows,
  bbox,
}: {
  table: string
  version: number
  rows: number
  bbox: Box
}) {
  const step = Math.ceil(rows / PLACES)
  const { data } = useDraftItems(table, version, `limit=${PLACES}&step=${step}`)
  const places = (data?.features ?? []).flatMap(({ geometry }) => {
    const place = geometry && placeOf(geometry)
    return place ? [place] : []
  })
  return (
    <div className="preview">
      <SmallMap bbox={bbox}>
        <path className="dots" d={places.map(([x, y]) => `M${x} ${-y}h0`).join('')} />
      </SmallMap>
    </div>
  )
}
