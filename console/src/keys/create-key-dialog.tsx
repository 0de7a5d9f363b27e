import { useQueryClient } from '@tanstack/react-query'
import type { CreatedKey, NewKey } from '@wayleave/contract/records'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'
import { NameField } from '../components/form/name-field.tsx'
import { numberOf } from '../components/form/number-field.tsx'
import { ANY_CALLER, listsOf } from './allowed-callers.ts'
import { AllowedCallersFields } from './allowed-callers-fields.tsx'
import { BudgetField } from './budget-field.tsx'
import { type Expiry, ExpiryField, expiryTime } from './expiry-field.tsx'
import { permissionsOf, READ_ALL } from './key-permissions.ts'
import { PermissionsField } from './permissions-field.tsx'

/** The endpoint that creates keys for one kind of owner, and the texts of its dialog. */
export interface KeyOwner {
  path: string
  title: string
  about: string
  isPlatform: boolean
}

export const personalOwner: KeyOwner = {
  path: '/v1/api-keys/personal',
  title: 'Create a personal key',
  about:
    'It uses your organization’s add-ons and credits, and stops working when you leave the organization.',
  isPlatform: false,
}

export const organizationOwner = (organizationId: string): KeyOwner => ({
  path: `/v1/api-keys/organization/${organizationId}`,
  title: 'Create an organization key',
  about: 'It belongs to the organization and keeps working when members leave.',
  isPlatform: false,
})

export const platformOwner: KeyOwner = {
  path: '/v1/admin/keys',
  title: 'Create a platform key',
  about: 'It is the operator’s: it needs no add-on and no credits, and with write it publishes datasets.',
  isPlatform: true,
}

export function CreateKeyDialog({
  owner,
  suggestedName = '',
  onCreated,
  onClose,
}: {
  owner: KeyOwner
  suggestedName?: string
  onCreated: (key: CreatedKey, isForPages: boolean) => void
  onClose: () => void
}) {
  const queries = useQueryClient()
  const [name, setName] = useState(suggestedName)
  const [reaches, setReaches] = useState(READ_ALL)
  const [expiry, setExpiry] = useState<Expiry>({ kind: 'days', days: 365 })
  const [callers, setCallers] = useState(ANY_CALLER)
  const [isTest, setTest] = useState(false)
  const [budget, setBudget] = useState('')
  const create = async () => {
    const expiresAt = expiryTime(expiry, Date.now()) ?? null
    const lists = listsOf(callers)
    const newKey: NewKey = {
      name,
      permissions: permissionsOf(reaches),
      expiresAt,
      ...lists,
      ...(isTest && { test: true }),
      ...(budget.trim() !== '' && { creditLimit: numberOf(budget) }),
    }
    const key = await call<CreatedKey>('POST', owner.path, newKey)
    queries.invalidateQueries({ queryKey: ['keys'] })
    onCreated(key, lists.allowedOrigins !== null)
  }
  return (
    <ActionDialog
      title={owner.title}
      action="Create the key"
      fields={['/name', '/permissions', '/allowedOrigins', '/allowedAddresses', '/creditLimit']}
      onAction={create}
      onClose={onClose}
    >
      {(error) => (
        <>
          <p className="soft">{owner.about}</p>
          <NameField
            name={name}
            onChange={setName}
            help="Where the key is used, such as “Map of the town hall”."
            error={error}
          />
          <PermissionsField
            reaches={reaches}
            onChange={setReaches}
            withWrite={owner.isPlatform}
            withAdmin={owner.isPlatform}
            error={error}
          />
          <ExpiryField expiry={expiry} onChange={setExpiry} />
          {!owner.isPlatform && <BudgetField budget={budget} onChange={setBudget} error={error} />}
          {!owner.isPlatform && (
            <label className="choice">
              <input type="checkbox" checked={isTest} onChange={() => setTest(!isTest)} />
              Test key: gets metadata and samples only, and costs nothing
            </label>
          )}
          <AllowedCallersFields callers={callers} onChange={setCallers} error={error} />
        </>
      )}
    </ActionDialog>
  )
}
