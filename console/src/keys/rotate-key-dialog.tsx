import type { KeyRecord, RotatedKey } from '@wayleave/contract/records'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'
import { Field } from '../components/form/field.tsx'
import { Ago } from '../components/when.tsx'

const OVERLAPS = [
  [0, 'At once'],
  [3600, 'After an hour'],
  [86_400, 'After a day'],
  [604_800, 'After a week'],
] as const

export function RotateKeyDialog({
  record,
  path,
  onRotated,
  onClose,
}: {
  record: KeyRecord
  path: string
  onRotated: (secret: string) => Promise<unknown>
  onClose: () => void
}) {
  const [overlapSeconds, setOverlap] = useState(0)
  const rotate = async () => {
    const { secret } = await call<RotatedKey>('POST', `${path}/rotate`, { overlapSeconds })
    await onRotated(secret)
  }
  return (
    <ActionDialog title={`Rotate “${record.name}”?`} action="Rotate now" onClose={onClose} onAction={rotate}>
      <p>The key gets a new secret, shown once. Name, permissions, expiry and usage stay.</p>
      <Field
        label="The old secret ends"
        help={
          overlapSeconds === 0
            ? 'Programs that use it get 401 until they have the new one.'
            : 'Until then both secrets work. This page shows when each was last used. If the old one has leaked, end it at once.'
        }
      >
        {(props) => (
          <select
            {...props}
            value={overlapSeconds}
            onChange={(event) => setOverlap(Number(event.target.value))}
          >
            {OVERLAPS.map(([seconds, label]) => (
              <option key={seconds} value={seconds}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      <p className="small">
        The old secret is <code>{record.prefix}…</code>, last used:{' '}
        <Ago at={record.lastUsedAt} never="never" />.
      </p>
      {record.previousSecret && (
        <p className="note warn small">
          <code>{record.previousSecret.prefix}…</code>, which still works from the last rotation, ends at
          once.
        </p>
      )}
    </ActionDialog>
  )
}
