import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { fieldErrorOf } from '../api/problem.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'
import { Field } from '../components/form/field.tsx'
import { ReasonField } from './reason-field.tsx'

/** In hours; an empty text is without an end. */
const durations: Record<string, string> = {
  '1': 'An hour',
  '24': 'A day',
  '168': 'A week',
  '720': '30 days',
  '': 'Until it is removed',
}

export function BlockAddressDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const [network, setNetwork] = useState('')
  const [reason, setReason] = useState('')
  const [hours, setHours] = useState('24')
  return (
    <ActionDialog
      title="Block an address"
      action="Block"
      danger
      fields={['/network']}
      onClose={onClose}
      onAction={async () => {
        const expiresAt = hours && new Date(Date.now() + Number(hours) * 3_600_000).toISOString()
        await call('POST', '/v1/admin/address-blocks', { network, reason, ...(expiresAt && { expiresAt }) })
        await queries.invalidateQueries({ queryKey: ['admin'] })
      }}
    >
      {(error) => (
        <>
          <Field
            label="Address or network"
            help="Such as 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32."
            wrong={fieldErrorOf(error, '/network')}
          >
            {(props) => (
              <input
                {...props}
                required
                maxLength={64}
                value={network}
                onChange={(event) => setNetwork(event.target.value)}
              />
            )}
          </Field>
          <ReasonField reason={reason} onChange={setReason} />
          <Field label="For">
            {(props) => (
              <select {...props} value={hours} onChange={(event) => setHours(event.target.value)}>
                {['1', '24', '168', '720', ''].map((value) => (
                  <option key={value} value={value}>
                    {durations[value]}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </>
      )}
    </ActionDialog>
  )
}
