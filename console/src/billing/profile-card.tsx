import { useQueryClient } from '@tanstack/react-query'
import type { BillingProfile } from '@wayleave/contract/records'
import { useState } from 'react'
import { useBillingProfile } from '../api/billing-queries.ts'
import { call } from '../api/call.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'
import { Field } from '../components/form/field.tsx'
import { Loaded } from '../components/page/loaded.tsx'

/** What stands on invoices. */
export function ProfileCard({ mayChange }: { mayChange: boolean }) {
  const profile = useBillingProfile()
  const [isOpen, setOpen] = useState(false)
  return (
    <section className="card stack-small" aria-labelledby="billing-profile">
      <div className="row spread">
        <h2 id="billing-profile">On invoices</h2>
        {mayChange && profile.data && (
          <button type="button" className="button" onClick={() => setOpen(true)}>
            Change
          </button>
        )}
      </div>
      <Loaded query={profile} lines={3}>
        {({ company, address, taxNumber }) => (
          <dl className="facts">
            <dt>Company</dt>
            <dd>{company || '–'}</dd>
            <dt>Address</dt>
            <dd className="lines">{address || '–'}</dd>
            <dt>Tax number</dt>
            <dd>{taxNumber || '–'}</dd>
          </dl>
        )}
      </Loaded>
      {isOpen && profile.data && <ProfileDialog profile={profile.data} onClose={() => setOpen(false)} />}
    </section>
  )
}

function ProfileDialog({ profile, onClose }: { profile: BillingProfile; onClose: () => void }) {
  const queries = useQueryClient()
  const [value, setValue] = useState(profile)
  const set = (name: keyof typeof value) => (event: { target: { value: string } }) =>
    setValue({ ...value, [name]: event.target.value })
  return (
    <ActionDialog
      title="On invoices"
      action="Save"
      onClose={onClose}
      onAction={async () => {
        await call('PATCH', '/v1/billing/profile', value)
        await queries.invalidateQueries({ queryKey: ['billing'] })
      }}
    >
      <Field label="Company" help="Without it, the name of the organization.">
        {(props) => <input {...props} maxLength={200} value={value.company} onChange={set('company')} />}
      </Field>
      <Field label="Address">
        {(props) => (
          <textarea {...props} rows={3} maxLength={500} value={value.address} onChange={set('address')} />
        )}
      </Field>
      <Field label="Tax number">
        {(props) => <input {...props} maxLength={50} value={value.taxNumber} onChange={set('taxNumber')} />}
      </Field>
    </ActionDialog>
  )
}
