import { Command } from 'commander'
import { operator } from '../events/events.ts'
import type { KeyActor } from '../keys/key-access.ts'
import { type OperatorFlags, operatorCommand, print, tableText } from './operator-command.ts'
import { withControlPlane } from './with-parts.ts'

const EXAMPLE = 'key_9tB3xQv5Lr1ZsW7nYc4D'
const actor: KeyActor = { reach: 'any', origin: operator }

interface CreateFlags extends OperatorFlags {
  platform?: true
  name: string
  permissions: string
  expiresAt?: string
}

export function keyCommand(): Command {
  return new Command('key')
    .description('API keys: the platform’s own, and the operator’s hand on any other.')
    .addCommand(
      operatorCommand('create', 'Create a platform key. Its secret is printed this once.', [
        'key create --platform --name "Nightly publishing" --permissions read,write',
        'key create --platform --name Mirror --permissions read:parcels --expires-at 2030-01-31T00:00:00Z',
      ])
        .option('--platform', 'a key of the platform, the one scope that is made here')
        .requiredOption('--name <name>', 'a label of 1 to 100 characters')
        .requiredOption('--permissions <list>', 'read, write, or for one dataset read:<table>, write:<table>')
        .option('--expires-at <timestamp>', 'when it stops; without it, never')
        .action(create),
    )
    .addCommand(
      operatorCommand('list', 'List the platform keys.', ['key list', 'key list --json']).action(list),
    )
    .addCommand(
      operatorCommand('rotate <keyId>', 'Give any key a new secret. The old one stops at once.', [
        `key rotate ${EXAMPLE}`,
      ]).action(rotate),
    )
    .addCommand(
      operatorCommand('revoke <keyId>', 'Disable any key for good, and keep its record.', [
        `key revoke ${EXAMPLE}`,
      ]).action(revoke),
    )
    .addCommand(
      operatorCommand('delete <keyId>', 'Delete any key and its record.', [`key delete ${EXAMPLE}`]).action(
        remove,
      ),
    )
}

async function create(flags: CreateFlags, command: Command): Promise<void> {
  if (!flags.platform) {
    command.error('error: only platform keys are made here; give --platform', { exitCode: 2 })
  }
  const permissions = flags.permissions.split(',').map((permission) => permission.trim())
  const given = { name: flags.name, permissions, expiresAt: flags.expiresAt }
  const created = await withControlPlane(flags, ({ keys }) => keys.createPlatform(operator, given))
  print(flags, created, `Created key ${created.id} (${created.name}). ${secretText(created.secret)}`)
}

async function list(flags: OperatorFlags): Promise<void> {
  const data = await withControlPlane(flags, ({ keys }) => keys.listPlatform())
  const rows = data.map((key) => [
    key.id,
    key.name,
    key.permissions.join(','),
    key.prefix,
    key.status,
    key.lastUsedAt ?? 'never used',
  ])
  const head = ['ID', 'NAME', 'PERMISSIONS', 'PREFIX', 'STATUS', 'LAST USED']
  print(flags, { data }, tableText(head, rows, 'There are no platform keys.'))
}

async function rotate(id: string, flags: OperatorFlags): Promise<void> {
  const rotated = await withControlPlane(flags, ({ keys }) => keys.rotate(actor, id))
  print(flags, rotated, `Rotated key ${id}. ${secretText(rotated.secret)}`)
}

async function revoke(id: string, flags: OperatorFlags): Promise<void> {
  const revoked = await withControlPlane(flags, ({ keys }) => keys.revoke(actor, id))
  print(flags, revoked, `Revoked key ${id} (${revoked.name}).`)
}

async function remove(id: string, flags: OperatorFlags): Promise<void> {
  await withControlPlane(flags, ({ keys }) => keys.delete(actor, id))
  print(flags, { id }, `Deleted key ${id}.`)
}

function secretText(secret: string): string {
  return `Its secret is shown this once:\n${secret}`
}
