import { Command } from 'commander'
import { operator } from '../../base/events/events.ts'
import { type OperatorFlags, operatorCommand, print, tableText } from '../operator-command.ts'
import { withControlPlane } from '../with-parts.ts'
import { reasonOption } from './reason-option.ts'

const EXAMPLE = 'usr_9tB3xQv5Lr1ZsW7nYc4D'

export function userCommand(): Command {
  return new Command('user')
    .description('Users: who may sign in, and their sessions.')
    .addCommand(operatorCommand('list', 'List all users.', ['user list', 'user list --json']).action(list))
    .addCommand(
      operatorCommand('sessions <userId>', 'List the sessions of a user.', [
        `user sessions ${EXAMPLE}`,
      ]).action(sessions),
    )
    .addCommand(
      operatorCommand('sign-out <userId>', 'End all sessions of a user, or one of them.', [
        `user sign-out ${EXAMPLE}`,
        `user sign-out ${EXAMPLE} --session fam_9tB3xQv5Lr1ZsW7nYc4D`,
      ])
        .option('--session <sessionId>', 'only this session')
        .action(signOut),
    )
    .addCommand(
      operatorCommand(
        'block <userId>',
        'Block a user. They cannot sign in, their sessions end, and their personal keys are refused.',
        [`user block ${EXAMPLE} --reason "Shares keys"`],
      )
        .addOption(reasonOption())
        .action(block),
    )
    .addCommand(
      operatorCommand('unblock <userId>', 'Let a blocked user sign in again. Their keys work again.', [
        `user unblock ${EXAMPLE}`,
      ]).action(unblock),
    )
    .addCommand(
      operatorCommand('export <userId>', 'Print everything that the service stores about a user, as JSON.', [
        `user export ${EXAMPLE} > ada.json`,
      ]).action(exportData),
    )
    .addCommand(
      operatorCommand(
        'unlink <userId>',
        'Unlink a user from their account at the provider of single sign-on. The next sign-in there with the same mail address links the user again.',
        [`user unlink ${EXAMPLE}`],
      ).action(unlink),
    )
    .addCommand(
      operatorCommand(
        'delete <userId>',
        'Delete a user with their sessions and personal keys. The ledger and the audit log stay, without the mail address.',
        [`user delete ${EXAMPLE}`],
      ).action(remove),
    )
}

async function list(flags: OperatorFlags): Promise<void> {
  const data = await withControlPlane(flags, ({ administration }) => administration.users())
  const rows = data.map((user) => [
    user.id,
    user.email,
    user.organizations.map(({ name }) => name).join(', ') || '-',
    user.permissions.join(',') || '-',
    user.blockedAt ? `blocked: ${user.blockReason}` : (user.lastSignInAt ?? 'never signed in'),
  ])
  const head = ['ID', 'EMAIL', 'ORGANIZATION', 'PERMISSIONS', 'LAST SIGN-IN']
  print(flags, { data }, tableText(head, rows, 'There are no users yet.'))
}

async function sessions(id: string, flags: OperatorFlags): Promise<void> {
  const data = await withControlPlane(flags, ({ userAdministration }) => userAdministration.sessions(id))
  const rows = data.map((session) => [session.id, session.startedAt, session.refreshedAt, session.expiresAt])
  print(flags, { data }, tableText(['ID', 'STARTED', 'LAST USED', 'EXPIRES'], rows, 'There are no sessions.'))
}

async function signOut(id: string, flags: OperatorFlags & { session?: string }): Promise<void> {
  const ended = await withControlPlane(flags, ({ userAdministration }) =>
    userAdministration.endSessions(operator, id, flags.session),
  )
  print(flags, { id, ended }, `Ended ${ended} ${ended === 1 ? 'session' : 'sessions'} of ${id}.`)
}

async function block(id: string, flags: OperatorFlags & { reason: string }): Promise<void> {
  const user = await withControlPlane(flags, ({ userAdministration }) =>
    userAdministration.block(operator, id, flags.reason),
  )
  print(flags, user, `Blocked ${user.email} (${id}).`)
}

async function unblock(id: string, flags: OperatorFlags): Promise<void> {
  const user = await withControlPlane(flags, ({ userAdministration }) =>
    userAdministration.unblock(operator, id),
  )
  print(flags, user, `Unblocked ${user.email} (${id}).`)
}

async function exportData(id: string, flags: OperatorFlags): Promise<void> {
  const data = await withControlPlane(flags, ({ userAdministration }) => userAdministration.data(id))
  print(flags, data, JSON.stringify(data, null, 2))
}

async function unlink(id: string, flags: OperatorFlags): Promise<void> {
  const wasLinked = await withControlPlane(flags, ({ userAdministration }) =>
    userAdministration.unlink(operator, id),
  )
  print(flags, { id, wasLinked }, wasLinked ? `Unlinked user ${id}.` : `User ${id} was not linked.`)
}

async function remove(id: string, flags: OperatorFlags): Promise<void> {
  await withControlPlane(flags, ({ userAdministration }) => userAdministration.delete(operator, id))
  print(flags, { id }, `Deleted user ${id}.`)
}
