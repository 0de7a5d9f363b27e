import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { call } from '../api/call.ts'
import type { KeyRecord, NewKey } from '../api/records.ts'
import { Dialog } from '../components/dialog.tsx'
import { Field } from '../components/field.tsx'
import { ProblemNote } from '../components/problem-note.tsx'
import { type Expiry, ExpiryField, expiryTime } from './expiry-field.tsx'
import { permissionsOf, reachesOf } from './key-permissions.ts'
import { PermissionsField } from './permissions-field.tsx'

/** Name, permissions and expiry of an existing key. Only what was changed is sent. */
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
  const change = useMutation({
    mutationFn: async () => {
      const changed = changes()
      if (Object.keys(changed).length > 0) await call('PATCH', path, changed)
      await onChanged()
    },
    onSuccess: onClose,
  })
  const changes = (): Partial<NewKey> => {
    const permissions = permissionsOf(reaches)
    const expiresAt = expiryTime(expiry, Date.now())
    const same = [...permissions].sort().join() === [...record.permissions].sort().join()
    return {
      ...(name.trim() !== record.name && { name }),
      ...(!same && { permissions }),
      ...(expiresAt !== undefined && { expiresAt }),
    }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate()
  }
  const withWrite = record.scope === 'platform' || reachesOf(record.permissions).write !== 'none'
  return (
    <Dialog title={`Change “${record.name}”`} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <Field label="Name">
          {(props) => (
            <input
              {...props}
              required
              maxLength={100}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <PermissionsField reaches={reaches} onChange={setReaches} withWrite={withWrite} />
        <ExpiryField expiry={expiry} onChange={setExpiry} current={record.expiresAt} />
        <p className="note small">
          The secret stays the same, and programs go on using it. What you take away here is refused from the
          next request on.
        </p>
        {change.isError && <ProblemNote error={change.error} />}
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={change.isPending}>
            Save the changes
          </button>
        </div>
      </form>
    </Dialog>
  )
}
