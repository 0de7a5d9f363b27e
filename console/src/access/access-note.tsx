import { ADD_ON_MEANINGS, ADD_ON_NAMES, type AddOn } from '@wayleave/contract/add-ons'
import type { OrganizationRecord } from '@wayleave/contract/records'
import { type ReactNode, useState } from 'react'
import { useAccessRequests } from '../api/queries.ts'
import { BuyLink } from '../billing/buy-link.tsx'
import { When } from '../components/when.tsx'
import { site } from '../site.ts'
import { RequestAccessDialog } from './request-access-dialog.tsx'

/** Says what the organization lacks, and how to get it: ask the operator here, or write to the contact. */
export function AccessNote({
  organization,
  addOn,
  credits = 0,
  children,
}: {
  organization: OrganizationRecord
  /** The add-on that is missing. */
  addOn?: AddOn
  /** The number of credits that are missing. */
  credits?: number
  /** A sentence that goes before. */
  children?: ReactNode
}) {
  const requests = useAccessRequests(organization.id)
  const [asking, setAsking] = useState(false)
  const open = requests.data?.find(({ state }) => state === 'open')
  return (
    <div className="note warn small stack-small">
      <p>
        {children}{' '}
        {addOn
          ? `${organization.name} does not have the add-on “${ADD_ON_NAMES[addOn]}” (${meaningOf(addOn)}).`
          : `${organization.name} has too few credits.`}
      </p>
      <BuyLink code={addOn ? 'add-on-missing' : 'credits-exhausted'} />
      {open ? (
        <p>
          {open.requestedBy} asked the operator for access on <When at={open.createdAt} />. You get an email
          when they have decided.
        </p>
      ) : (
        <p className="row">
          <button type="button" className="button small" onClick={() => setAsking(true)}>
            Request access
          </button>
          {site.contact?.url && (
            <a href={site.contact.url} rel="noreferrer">
              {site.contact.name ?? 'Contact the operator'}
            </a>
          )}
        </p>
      )}
      {asking && (
        <RequestAccessDialog
          organization={organization}
          addOns={addOn ? [addOn] : []}
          credits={credits}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  )
}

/** The meaning of an add-on as a part of a sentence. */
function meaningOf(addOn: AddOn): string {
  const meaning = ADD_ON_MEANINGS[addOn].replace(/\.$/, '')
  return meaning.charAt(0).toLowerCase() + meaning.slice(1)
}
