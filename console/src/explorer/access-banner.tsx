import { AccessNote } from '../access/access-note.tsx'
import { NoOrganizationNote } from '../access/no-organization-note.tsx'
import { useMe } from '../api/queries.ts'
import { SignInLink } from '../components/page/sign-in-link.tsx'
import { plural } from '../words.ts'
import type { Exploration } from './access.ts'

/** Above the explorer while it shows only the sample: the way to see all rows. */
export function AccessBanner({ exploration: { dataset, access } }: { exploration: Exploration }) {
  const organization = useMe().data?.organization
  const sample = dataset.sample === null ? 'This dataset has no free sample.' : 'You see a free sample.'
  if (access === 'signed-out') {
    return (
      <p className="note small explorer-access">
        {sample} <SignInLink>Sign in</SignInLink> to see, filter and chart{' '}
        {dataset.rows === 1 ? 'its row' : `all ${plural(dataset.rows, 'row')}`}.
      </p>
    )
  }
  if (access !== 'locked') return null
  // No add-on opens it: its publisher decides what the organization gets.
  if (dataset.visibility !== 'public')
    return <p className="note small explorer-access">{sample} Your access does not include its rows.</p>
  return (
    <div className="explorer-access">
      {organization ? (
        <AccessNote organization={organization} addOn="GIS_ACCESS">
          {sample}
        </AccessNote>
      ) : (
        <NoOrganizationNote>{sample}</NoOrganizationNote>
      )}
    </div>
  )
}
