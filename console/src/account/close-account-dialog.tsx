import { call } from '../api/call.ts'
import { session } from '../api/session.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'
import { TypedConfirmation } from './typed-confirmation.tsx'

export function CloseAccountDialog({ email, onClose }: { email: string; onClose: () => void }) {
  return (
    <ActionDialog
      title="Close your account?"
      action="Close the account"
      danger
      onClose={onClose}
      onAction={async () => {
        await call('DELETE', '/v1/auth/me')
        session.closed()
      }}
    >
      <p>
        Your sessions and personal keys end at once, in all organizations. Organizations in which you are
        alone are closed: their keys stop, and their credits are lost. This cannot be undone.
      </p>
      <TypedConfirmation label="Type your email address to confirm" text={email} />
    </ActionDialog>
  )
}
