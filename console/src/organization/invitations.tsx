import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { call } from '../api/call.ts'
import { useInvitations } from '../api/queries.ts'
import type { Invitation, MemberPermission, Organization } from '../api/records.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Empty } from '../components/empty.tsx'
import { Field } from '../components/field.tsx'
import { Loaded } from '../components/loaded.tsx'
import { ProblemNote } from '../components/problem-note.tsx'
import { Scroll } from '../components/scroll.tsx'
import { useAction } from '../components/use-action.ts'
import { When } from '../components/when.tsx'
import { MemberPermissionsField, PermissionBadges } from './member-permissions.tsx'

/** Who is invited and has not yet come. */
export function Invitations({ organization }: { organization: Organization }) {
  const invitations = useInvitations(organization.id, true)
  const queries = useQueryClient()
  const [inviting, setInviting] = useState(false)
  const [withdrawn, setWithdrawn] = useState<Invitation | null>(null)
  return (
    <section className="card flush">
      <div className="card-head">
        <h2>Invitations</h2>
        <button type="button" className="button primary" onClick={() => setInviting(true)}>
          Invite a colleague
        </button>
      </div>
      <Loaded query={invitations} lines={2}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No open invitation" />
          ) : (
            <Scroll label="Invitations">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Mail address</th>
                    <th scope="col">Permissions</th>
                    <th scope="col">Ends</th>
                    <th scope="col">
                      <span className="visually-hidden">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {rows.map((invitation) => (
                    <tr key={invitation.id}>
                      <th scope="row">{invitation.email}</th>
                      <td>
                        <PermissionBadges permissions={invitation.permissions} />
                      </td>
                      <td>
                        <When at={invitation.expiresAt} />
                      </td>
                      <td className="actions">
                        <button
                          type="button"
                          className="button quiet small"
                          onClick={() => setWithdrawn(invitation)}
                        >
                          Withdraw
                        </button>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          )
        }
      </Loaded>
      {inviting && <InviteDialog organization={organization} onClose={() => setInviting(false)} />}
      {withdrawn && (
        <ConfirmDialog
          title={`Withdraw the invitation of ${withdrawn.email}?`}
          action="Withdraw"
          danger
          onClose={() => setWithdrawn(null)}
          onConfirm={async () => {
            await call('DELETE', `/v1/organization/${organization.id}/invitations/${withdrawn.id}`)
            await queries.invalidateQueries({ queryKey: ['invitations'] })
          }}
        >
          <p>The link in the mail stops working. You can invite the address again.</p>
        </ConfirmDialog>
      )}
    </section>
  )
}

function InviteDialog({ organization, onClose }: { organization: Organization; onClose: () => void }) {
  const queries = useQueryClient()
  const [email, setEmail] = useState('')
  const [permissions, setPermissions] = useState<MemberPermission[]>([])
  const invite = useAction(async () => {
    await call('POST', `/v1/organization/${organization.id}/invitations`, { email, permissions })
    await queries.invalidateQueries({ queryKey: ['invitations'] })
    onClose()
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    invite.run()
  }
  return (
    <Dialog title="Invite a colleague" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <Field label="Mail address" help="The mail’s link works once, for 7 days.">
          {(props) => (
            <input
              {...props}
              type="email"
              required
              maxLength={320}
              value={email}
              onChange={(event) => setEmail(event.target.value)}
            />
          )}
        </Field>
        <MemberPermissionsField
          chosen={permissions}
          onChange={setPermissions}
          held={organization.permissions}
        />
        {invite.error !== null && <ProblemNote error={invite.error} />}
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={invite.running}>
            Send the invitation
          </button>
        </div>
      </form>
    </Dialog>
  )
}
