import { useQuery } from '@tanstack/react-query'
import { problemFrom } from '../api/problem.ts'
import { readerKey } from '../api/session-key.ts'
import { Dialog } from '../components/form/dialog.tsx'
import { Loaded } from '../components/page/loaded.tsx'
import { count } from '../words.ts'
import { type Box, SmallMap } from './small-map.tsx'

type Places = [x: number, y: number][]

interface ChangedPlaces {
  counts: Record<Kind, number>
  added: Places
  removed: Places
  changed: Places
}

type Kind = 'added' | 'removed' | 'changed'
const SIGNS = { added: '+', removed: '−', changed: '~' } as const
/** Few are drawn last. */
const KINDS: Kind[] = ['changed', 'added', 'removed']

async function readPlaces(table: string, from: number, to: number): Promise<ChangedPlaces> {
  const path = `/v1/dataset/${table}/changes?from=${from}&to=${to}&f=places`
  const response = await fetch(path, { headers: { 'X-API-Key': await readerKey() } })
  const text = await response.text()
  if (!response.ok) throw problemFrom(response.status, text, response.headers.get('x-request-id'))
  return JSON.parse(text) as ChangedPlaces
}

/** Where features were added, removed and changed between two versions, in three colors. */
export function ChangesMap({
  table,
  from,
  to,
  bbox,
  onClose,
}: {
  table: string
  from: number
  to: number
  bbox: Box
  onClose: () => void
}) {
  const query = useQuery({
    queryKey: ['changed-places', table, from, to],
    queryFn: () => readPlaces(table, from, to),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Dialog title={`What changed from version ${from} to ${to}`} onClose={onClose}>
      <Loaded query={query} lines={4}>
        {(places) => (
          <div className="stack changes-map">
            <div className="preview">
              <SmallMap bbox={bbox}>
                {KINDS.map((kind) => (
                  <path
                    key={kind}
                    className={`dots ${kind}`}
                    d={places[kind].map(([x, y]) => `M${x} ${-y}h0`).join('')}
                  />
                ))}
              </SmallMap>
            </div>
            <ul className="changes-legend">
              {(['added', 'removed', 'changed'] as const).map((kind) => (
                <li key={kind} className={kind}>
                  <span aria-hidden="true">{SIGNS[kind]}</span>
                  {count(places.counts[kind])} {kind}
                  {places[kind].length < places.counts[kind] && (
                    <span className="soft small"> ({count(places[kind].length)} on the map)</span>
                  )}
                </li>
              ))}
            </ul>
          </div>
        )}
      </Loaded>
      <div className="inline-form">
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
