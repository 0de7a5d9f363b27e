import { useQueryClient } from '@tanstack/react-query'
import { ADD_ONS } from '@wayleave/contract/add-ons'
import type { AccessRequest } from '@wayleave/contract/records'
import { useState } from 'react'
import { Link } from 'react-router'
import { AddOnsField } from '../../access/add-ons-field.tsx'
import { requestColumns } from '../../access/request-columns.tsx'
import { call } from '../../api/call.ts'
import { useRequestInbox } from '../../api/queries.ts'
import { ActionDialog } from '../../components/form/action-dialog.tsx'
import { Field } from '../../components/form/field.tsx'
import { NumberField } from '../../components/form/number-field.tsx'
import { RowButton } from '../../components/form/row-button.tsx'
import { ListCard } from '../../components/list-card.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { SelectField } from '../../organization/filter-fields.tsx'

type Open = { kind: 'grant' | 'decline'; request: AccessRequest }

/** The request inbox: what members asked for. */
export function RequestsPage() {
  useTitle('Requests')
  const [state, setState] = useState('open')
  const [open, setOpen] = useState<Open | null>(null)
  const close = () => setOpen(null)
  return (
    <ListCard
      label="Requests for access"
      head={
        <>
          <h2>Requests for access</h2>
          <SelectField
            label="State"
            value={state}
            onChange={setState}
            options={{ open: 'Open', granted: 'Granted', declined: 'Declined', '': 'All' }}
          />
        </>
      }
      query={useRequestInbox(state)}
      keyOf={({ id }) => id}
      empty={{
        title: state === 'open' ? 'No open requests' : 'No such requests',
        text: <p>Members ask for add-ons and credits under “Access” of their organization.</p>,
      }}
      columns={[
        {
          head: 'Organization',
          kind: 'long',
          cell: ({ organizationId, organizationName }) => (
            <Link to={`/administration/organizations/${organizationId}`}>{organizationName}</Link>
          ),
        },
        ...requestColumns,
        {
          head: 'Actions',
          kind: 'actions',
          cell: (request) =>
            request.state === 'open' && (
              <>
                <RowButton
                  label="Grant"
                  of={`the request of ${request.organizationName}`}
                  onClick={() => setOpen({ kind: 'grant', request })}
                />
                <RowButton
                  label="Decline"
                  of={`the request of ${request.organizationName}`}
                  onClick={() => setOpen({ kind: 'decline', request })}
                />
              </>
            ),
        },
      ]}
    >
      {open?.kind === 'grant' && <GrantDialog request={open.request} onClose={close} />}
      {open?.kind === 'decline' && <DeclineDialog request={open.request} onClose={close} />}
    </ListCard>
  )
}

function GrantDialog({ request, onClose }: { request: AccessRequest; onClose: () => void }) {
  const queries = useQueryClient()
  const [addOns, setAddOns] = useState(request.addOns)
  const [credits, setCredits] = useState(String(request.credits))
  const [note, setNote] = useState('')
  return (
    <ActionDialog
      title={`Grant the request of ${request.organizationName}`}
      action="Grant"
      onClose={onClose}
      onAction={async () => {
        const path = `/v1/admin/access-requests/${request.id}/grant`
        await call('POST', path, { addOns, credits: Number(credits), note })
        await queries.invalidateQueries()
      }}
    >
      {request.message && <blockquote className="note">{request.message}</blockquote>}
      <AddOnsField offered={ADD_ONS} chosen={addOns} onChange={setAddOns} />
      <NumberField label="Credits" value={credits} onChange={setCredits} />
      <NoteField note={note} onChange={setNote} />
    </ActionDialog>
  )
}

function DeclineDialog({ request, onClose }: { request: AccessRequest; onClose: () => void }) {
  const queries = useQueryClient()
  const [note, setNote] = useState('')
  return (
    <ActionDialog
      title={`Decline the request of ${request.organizationName}?`}
      action="Decline"
      danger
      onClose={onClose}
      onAction={async () => {
        await call('POST', `/v1/admin/access-requests/${request.id}/decline`, { note })
        await queries.invalidateQueries()
      }}
    >
      <NoteField note={note} onChange={setNote} />
    </ActionDialog>
  )
}

function NoteField({ note, onChange }: { note: string; onChange: (note: string) => void }) {
  return (
    <Field label="Message to the member who asked" help="It is part of the email to them.">
      {(props) => (
        <textarea
          {...props}
          rows={2}
          maxLength={1000}
          value={note}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}
