import type { ReactNode } from 'react'
import { TypedConfirmation } from '../account/typed-confirmation.tsx'
import { call } from '../api/call.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'
import { site } from '../site.ts'

/** For members and for administrators, who delete it by another path. */
export function DeleteOrganizationDialog({
  name,
  path,
  onClose,
  onDeleted,
  children,
}: {
  name: string
  path: string
  onClose: () => void
  onDeleted: () => Promise<unknown>
  /** What else happens. */
  children?: ReactNode
}) {
  return (
    <ActionDialog
      title={`Delete ${name}?`}
      action="Delete the organization"
      danger
      onClose={onClose}
      onAction={async () => {
        await call('DELETE', path)
        await onDeleted()
      }}
    >
      <p>
        All its keys, and the personal keys of its members in it, stop at once. Its members leave it, its
        credits are lost{site.sells && ', its plan ends'}, and its datasets become the operator’s. This cannot
        be undone.
      </p>
      {children}
      <TypedConfirmation label="Type the name of the organization to confirm" text={name} />
    </ActionDialog>
  )
}
