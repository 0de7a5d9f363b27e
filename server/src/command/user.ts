import { Command } from 'commander'
import { type OperatorFlags, operatorCommand, print, tableText } from './operator-command.ts'
import { withControlPlane } from './with-parts.ts'

export function userCommand(): Command {
  return new Command('user')
    .description('Users: who may sign in.')
    .addCommand(operatorCommand('list', 'List all users.', ['user list', 'user list --json']).action(list))
}

async function list(flags: OperatorFlags): Promise<void> {
  const data = await withControlPlane(flags, ({ administration }) => administration.users())
  const rows = data.map((user) => [
    user.id,
    user.email,
    user.organizationName ?? '-',
    user.permissions.join(',') || '-',
    user.lastSignInAt ?? 'never signed in',
  ])
  const head = ['ID', 'EMAIL', 'ORGANIZATION', 'PERMISSIONS', 'LAST SIGN-IN']
  print(flags, { data }, tableText(head, rows, 'There are no users yet.'))
}
