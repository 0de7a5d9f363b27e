import { useQueryClient } from '@tanstack/react-query'
import { ADD_ONS, type AddOn } from '@wayleave/contract/add-ons'
import type { OrganizationRecord } from '@wayleave/contract/records'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'
import { Field } from '../components/form/field.tsx'
import { NumberField } from '../components/form/number-field.tsx'
import { count } from '../words.ts'
import { AddOnsField } from './add-ons-field.tsx'

/** Asks the operator for add-ons and credits. */
export function RequestAccessDialog({
  organization,
  addOns: initialAddOns,
  credits: missing = 0,
  onClose,
}: {
  organization: OrganizationRecord
  /** What is chosen at first. */
  addOns: AddOn[]
  credits?: number
  onClose: () => void
}) {
  const queries = useQueryClient()
  const [addOns, setAddOns] = useState(initialAddOns)
  const [credits, setCredits] = useState(String(missing))
  const [message, setMessage] = useState('')
  const lacking = ADD_ONS.filter((addOn) => !organization.addOns.includes(addOn))
  return (
    <ActionDialog
      title="Request access"
      action="Send the request"
      onClose={onClose}
      onAction={async () => {
        await call('POST', `/v1/organization/${organization.id}/access-requests`, {
          addOns,
          credits: Number(credits),
          message,
        })
        await queries.invalidateQueries({ queryKey: ['access-requests'] })
      }}
    >
      <p className="soft">
        The operator gets an email and decides for the whole organization {organization.name}. You get an
        email when they have decided.
      </p>
      {lacking.length > 0 && <AddOnsField offered={lacking} chosen={addOns} onChange={setAddOns} />}
      <NumberField
        label="Credits"
        value={credits}
        onChange={setCredits}
        help={`${organization.name} has ${count(organization.credits.balance)}.`}
      />
      <Field label="What do you need it for?">
        {(props) => (
          <textarea
            {...props}
            rows={3}
            maxLength={1000}
            value={message}
            onChange={(event) => setMessage(event.target.value)}
          />
        )}
      </Field>
    </ActionDialog>
  )
}
