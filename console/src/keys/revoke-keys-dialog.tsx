import { useQueryClient } from '@tanstack/react-query'
import type { KeyRecord } from '@wayleave/contract/records'
import { call } from '../api/call.ts'
import { SeveralDialog } from '../components/form/several-dialog.tsx'
import { Ago } from '../components/when.tsx'
import { plural } from '../words.ts'

/** Revokes several keys of one owner, such as those that nobody uses any more. */
export function RevokeKeysDialog({
  keys,
  path,
  onClose,
}: {
  keys: KeyRecord[]
  /** Of the records of the keys. */
  path: string
  onClose: (hasBegun: boolean) => void
}) {
  const queries = useQueryClient()
  const keysInWords = plural(keys.length, 'key')
  return (
    <SeveralDialog
      title={`Revoke ${keysInWords}?`}
      action={`Revoke ${keysInWords} for good`}
      done="Revoked"
      rows={keys}
      keyOf={({ id }) => id}
      cell={({ name, prefix, lastUsedAt }) => (
        <>
          <strong>{name}</strong>{' '}
          <span className="small soft">
            <code>{prefix}…</code>, last used: <Ago at={lastUsedAt} never="never" />
          </span>
        </>
      )}
      onEach={({ id }) => call('POST', `${path}/${id}/revoke`)}
      onEnd={() =>
        Promise.all(['keys', 'key'].map((name) => queries.invalidateQueries({ queryKey: [name] })))
      }
      onClose={onClose}
    >
      <p>
        Their secrets stop at once and never work again. This cannot be undone. The records and their usage
        stay.
      </p>
    </SeveralDialog>
  )
}
