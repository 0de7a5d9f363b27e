import type { Dataset } from '@wayleave/client'
import { Link } from 'react-router'
import { useMe, useSession } from '../api/queries.ts'
import { plural } from '../words.ts'
import { DownloadRow } from './download-row.tsx'

/** Downloads of the whole dataset in each format, with the price shown in advance. */
export function Downloads({ dataset }: { dataset: Dataset }) {
  const { table, credits, formats } = dataset
  const organization = useMe().data?.organization
  const signedIn = useSession() === 'signed-in'
  const balance = organization?.credits.balance ?? 0
  const unlocked = organization?.addOns.includes('API_ACCESS') ?? false
  return (
    <section className="card stack-small" aria-labelledby="downloads">
      <h2 id="downloads">Download</h2>
      {!signedIn && (
        <p className="small">
          <Link to="/sign-in" state={{ next: `/datasets/${table}` }}>
            Sign in
          </Link>{' '}
          to download.
        </p>
      )}
      {organization && !unlocked && (
        <p className="note warn small">
          {organization.name} lacks the add-on API_ACCESS, which unlocks downloads. The operator grants it.
        </p>
      )}
      {organization && unlocked && (
        <p className="small soft">
          {credits === 0 ? 'Free.' : `A format costs ${plural(credits, 'credit')}, once in 24 hours.`}{' '}
          {organization.name} has {plural(balance, 'credit')}.{balance < credits && ' That is too few.'}
        </p>
      )}
      <ul className="downloads">
        {formats.map(({ format }) => (
          <DownloadRow key={format} table={table} format={format} disabled={!unlocked} />
        ))}
      </ul>
    </section>
  )
}
