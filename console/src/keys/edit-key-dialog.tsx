import type { KeyRecord, NewKey } from '@wayleave/contract/records'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'
import { NameField } from '../components/form/name-field.tsx'
import { numberOf, textOf } from '../components/form/number-field.tsx'
import { callersOf, changedLists } from './allowed-callers.ts'
import { AllowedCallersFields } from './allowed-callers-fields.tsx'
import { BudgetField } from './budget-field.tsx'
import { type Expiry, ExpiryField, expiryTime } from './expiry-field.tsx'
import { permissionsOf, reachesOf } from './key-permissions.ts'
import { PermissionsField } from './permissions-field.tsx'

/** Edits name, permissions, expiry, budget and allowed callers of an existing key. Only changed fields are sent. */
export function EditKeyDialog({
  record,
  path,
  onClose,
  onChanged,
}: {
  record: KeyRecord
  path: string
  onClose: () => void
  onChanged: () => Promise<unknown>
}) {
  const [name, setName] = useState(record.name)
  const [reaches, setReaches] = useState(reachesOf(record.permissions))
  const [expiry, setExpiry] = useState<Expiry>({ kind: 'keep' })
  const [callers, setCallers] = useState(callersOf(record))
  const [budget, setBudget] = useState(textOf(record.creditLimit))
  const changes = (): Partial<NewKey> => {
    const permissions = permissionsOf(reaches)
    const expiresAt = expiryTime(expiry, Date.now())
    const same = [...permissions].sort().join() === [...record.permissions].sort().join()
    return {
      ...(name.trim() !== record.name && { name }),
      ...(!same && { permissions }),
      ...(expiresAt !== undefined && { expiresAt }),
      ...changedLists(callers, record),
      ...(numberOf(budget) !== record.creditLimit && { creditLimit: numberOf(budget) }),
    }
  }
  const save = async () => {
    const changed = changes()
    if (Object.keys(changed).length > 0) await call('PATCH', path, changed)
    await onChanged()
  }
  const withWrite = record.scope === 'platform' || reachesOf(record.permissions).write !== 'none'
  return (
    <ActionDialog
      title={`Change “${record.name}”`}
      action="Save the changes"
      fields={['/name', '/permissions', '/allowedOrigins', '/allowedAddresses', '/creditLimit']}
      onAction={save}
      onClose={onClose}
    >
      {(error) => (
        <>
          <NameField name={name} onChange={setName} error={error} />
          <PermissionsField
            reaches={reaches}
            onChange={setReaches}
            withWrite={withWrite}
            withAdmin={record.scope === 'platform'}
            error={error}
          />
          <ExpiryField expiry={expiry} onChange={setExpiry} current={record.expiresAt} />
          {record.scope !== 'platform' && <BudgetField budget={budget} onChange={setBudget} error={error} />}
          <AllowedCallersFields callers={callers} onChange={setCallers} error={error} />
          <p className="note small">
            The secret stays the same, and programs go on using it. What you take away here is refused from
            the next request on.
          </p>
        </>
      )}
    </ActionDialog>
  )
}
