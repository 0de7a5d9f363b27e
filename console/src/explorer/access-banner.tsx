import { AccessNote } from '../access/access-note.tsx'
import { useMe } from '../api/queries.ts'
import { SignInLink } from '../components/page/sign-in-link.tsx'
import { plural } from '../words.ts'
import type { Exploration } from './access.ts'

/** Above the explorer while it shows only the sample: the way to see all rows. */
export function AccessBanner({ exploration: { dataset, access } }: { exploration: Exploration }) {
  const organization = useMe().data?.organization
  if (access === 'signed-out') {
    return (
      <p className="note small explorer-access">
        {dataset.sample === null ? 'This dataset has no free sample.' : 'You see a free sample.'}{' '}
        <SignInLink>Sign in</SignInLink> to see, filter and chart{' '}
        {dataset.rows === 1 ? 'its row' : `all ${plural(dataset.rows, 'row')}`}.
      </p>
    )
  }
  if (access !== 'locked' || !organization) return null
  return (
    <div className="explorer-access">
      <AccessNote organization={organization} addOn="GIS_ACCESS">
        {dataset.sample === null ? 'This dataset has no free sample.' : 'You see a free sample.'}
      </AccessNote>
    </div>
  )
}
