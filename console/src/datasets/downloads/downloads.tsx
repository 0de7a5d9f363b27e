import type { DatasetDetails } from '@wayleave/contract/records'
import { AccessNote } from '../../access/access-note.tsx'
import { NoOrganizationNote } from '../../access/no-organization-note.tsx'
import { useMe, useSession } from '../../api/queries.ts'
import { SignInLink } from '../../components/page/sign-in-link.tsx'
import { plural, suitsDataset } from '../../words.ts'
import { DownloadRow } from './download-row.tsx'
import { usePurchases } from './use-purchases.ts'

/** Downloads of the whole dataset in each format, with size and price shown in advance. */
export function Downloads({ dataset }: { dataset: DatasetDetails }) {
  const { table, credits, formats, version, visibility } = dataset
  const isOpen = visibility === 'open'
  const me = useMe().data
  const organization = me?.organization
  const signedIn = useSession() === 'signed-in'
  const balance = organization?.credits.balance ?? 0
  const unlocked = dataset.access.includes('downloads')
  const purchases = usePurchases(table, signedIn && unlocked && credits > 0)
  const isPaid = (format: string) =>
    purchases.some((purchase) => purchase.version === version && purchase.format === format)
  return (
    <section className="card stack-small" aria-labelledby="downloads">
      <h2 id="downloads">The whole dataset</h2>
      {isOpen && <p className="small soft">Open data: free for everybody, without a key.</p>}
      {!signedIn && !isOpen && (
        <p className="small">
          <SignInLink>Sign in</SignInLink> to download.
        </p>
      )}
      {me && !organization && !unlocked && <NoOrganizationNote />}
      {organization && !unlocked && visibility === 'public' && (
        <AccessNote organization={organization} addOn="API_ACCESS" />
      )}
      {organization && !unlocked && visibility !== 'public' && (
        <p className="small">Your access to this dataset does not include downloads.</p>
      )}
      {organization && unlocked && !isOpen && (
        <p className="small soft">
          {credits === 0 ? 'Free.' : `A format costs ${plural(credits, 'credit')}, once in 24 hours.`}{' '}
          {organization.name} has {plural(balance, 'credit')}.
        </p>
      )}
      {organization && unlocked && balance < credits && (
        <AccessNote organization={organization} credits={credits} />
      )}
      <ul className="downloads">
        {formats
          .filter(({ format }) => suitsDataset(format, dataset))
          .map(({ format, bytes }) => (
            <DownloadRow
              key={format}
              table={table}
              format={format}
              currentVersion={version}
              size={bytes}
              credits={isOpen ? 0 : credits}
              isPaid={isPaid(format)}
              disabled={!unlocked}
            />
          ))}
      </ul>
    </section>
  )
}
