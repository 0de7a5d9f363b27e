import { existsSync } from 'node:fs'
import { MAX_OVERLAP } from '@wayleave/contract/permissions'
import type { NewKey } from '@wayleave/contract/records'
import { Command, InvalidArgumentError } from 'commander'
import type { KeyActor } from '../../accounts/keys/key-access.ts'
import { systemClock } from '../../base/clock.ts'
import { operator } from '../../base/events/events.ts'
import { existingConfig, newOrExistingConfig } from '../command-config.ts'
import { type OperatorFlags, operatorCommand, print, secretText, tableText } from '../operator-command.ts'
import { count } from '../output/progress-line.ts'
import { withControlPlane } from '../with-parts.ts'

const EXAMPLE = 'key_9tB3xQv5Lr1ZsW7nYc4D'
const actor: KeyActor = { reach: 'any', origin: operator }

interface CreateFlags extends OperatorFlags {
  platform?: true
  name: string
  permissions: string
  expiresAt?: string
  allowedOrigins?: string
  allowedAddresses?: string
}

export function keyCommand(): Command {
  return new Command('key')
    .description('Create, list and revoke platform keys, and find and revoke any other key.')
    .addCommand(
      operatorCommand('create', 'Create a platform key. Its secret is printed this once.', [
        'key create --platform --name "Nightly publishing" --permissions read,write',
        'key create --platform --name Mirror --permissions read:parcels --expires-at 2030-01-31T00:00:00Z',
        'key create --platform --name Shop --permissions admin --allowed-addresses 192.0.2.0/24',
        'key create --platform --name "Town map" --permissions read --allowed-origins https://maps.example.org',
      ])
        .option('--platform', 'a key of the platform, the one scope that is made here')
        .requiredOption('--name <name>', 'a label of 1 to 100 characters (required)')
        .requiredOption(
          '--permissions <list>',
          'read, write, or for one dataset read:<table>, write:<table>; admin for /v1/admin (required)',
        )
        .option('--expires-at <timestamp>', 'when it stops; without it, never')
        .option(
          '--allowed-origins <list>',
          'web pages that may use it, such as https://maps.example.org,https://*.example.net',
        )
        .option('--allowed-addresses <list>', 'networks that may use it, such as 192.0.2.0/24,2001:db8::/32')
        .action(create),
    )
    .addCommand(
      operatorCommand('list', 'List the platform keys.', ['key list', 'key list --json']).action(list),
    )
    .addCommand(
      operatorCommand(
        'find',
        'Find a key by its secret, or by its first characters. They are read from standard input, so that no list of processes and no history of the shell has them.',
        ['key find < leaked.txt', 'key find --revoke < leaked.txt'],
      )
        .option('--revoke', 'revoke the key, if exactly one was found')
        .action(find),
    )
    .addCommand(
      operatorCommand(
        'apply-revocations [files...]',
        'Revoke again the keys on the list of revocations. For after a restore by other means than "wayleave restore".',
        [
          'key apply-revocations',
          'key apply-revocations /old/data/revocations.log /backup/wayleave/revoked.jsonl',
        ],
      ).action(applyListed),
    )
    .addCommand(
      operatorCommand(
        'rotate <keyId>',
        'Give any key a new secret. The old one stops at once, or after an overlap.',
        [`key rotate ${EXAMPLE}`, `key rotate ${EXAMPLE} --overlap 3600`],
      )
        .option(
          '--overlap <seconds>',
          `how long the old secret goes on working, up to ${MAX_OVERLAP}`,
          overlapSeconds,
        )
        .action(rotate),
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
  const newKey: NewKey = {
    name: flags.name,
    permissions: listOf(flags.permissions),
    expiresAt: flags.expiresAt ?? null,
    allowedOrigins: flags.allowedOrigins === undefined ? null : listOf(flags.allowedOrigins),
    allowedAddresses: flags.allowedAddresses === undefined ? null : listOf(flags.allowedAddresses),
  }
  const created = await withControlPlane(
    flags,
    ({ keys }) => keys.createPlatform(operator, newKey),
    newOrExistingConfig,
  )
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

async function find(flags: OperatorFlags & { revoke?: boolean }): Promise<void> {
  const secret = await readSecret()
  const data = await withControlPlane(flags, ({ keyFinder }) =>
    flags.revoke ? keyFinder.revoke(operator, secret) : keyFinder.find(secret),
  )
  const rows = data.map((key) => [
    key.id,
    key.name ?? '-',
    key.state,
    key.scope ?? '-',
    key.userEmail ?? '-',
    key.organizationName ?? '-',
    key.lastUsedAt ?? 'never used',
  ])
  const head = ['ID', 'NAME', 'STATE', 'SCOPE', 'USER', 'ORGANIZATION', 'LAST USED']
  print(flags, { data }, tableText(head, rows, 'There is no such key.'))
  if (data.length === 0) process.exitCode = 1
}

/** The first line of standard input. */
async function readSecret(): Promise<string> {
  if (process.stdin.isTTY)
    process.stderr.write('Paste the secret or its first characters, then press Enter:\n')
  let text = ''
  for await (const piece of process.stdin.setEncoding('utf8')) {
    text += piece
    if (text.length > 1000 || /\S[^\n]*\n/.test(text)) break
  }
  return text.trim().split('\n', 1)[0]!.trim()
}

async function applyListed(files: string[], flags: OperatorFlags): Promise<void> {
  const { applyRevocations } = await import('../../operation/backup/revocations/apply-revocations.ts')
  const { revocationLogFile } = await import('../../operation/backup/revocations/revocation-log.ts')
  const { readRevocations } = await import('../../operation/backup/revocations/revocations.ts')
  const { dataDir } = existingConfig(flags)
  for (const file of files) if (!existsSync(file)) throw new Error(`There is no file ${file}.`)
  const lists = await Promise.all([revocationLogFile(dataDir), ...files].map(readRevocations))
  const revocations = new Map(lists.flatMap((list) => [...list]))
  const revoked = await withControlPlane(flags, (control) =>
    applyRevocations({ db: control.database.db, commit: control.changes.commit }, systemClock(), revocations),
  )
  print(
    flags,
    { listed: revocations.size, revoked },
    `${count(revocations.size, 'secret')} ${revocations.size === 1 ? 'is' : 'are'} on the list. ${revoked} of them worked and ${revoked === 1 ? 'is' : 'are'} revoked now.`,
  )
}

function listOf(text: string): string[] {
  return text.split(',').map((value) => value.trim())
}

export function overlapSeconds(text: string): number {
  const seconds = Number(text)
  if (/^\d+$/.test(text) && seconds <= MAX_OVERLAP) return seconds
  throw new InvalidArgumentError(`must be a number of seconds up to ${MAX_OVERLAP}.`)
}

async function rotate(id: string, flags: OperatorFlags & { overlap?: number }): Promise<void> {
  const rotation = { overlapSeconds: flags.overlap ?? 0 }
  const rotated = await withControlPlane(flags, ({ keys }) => keys.rotate(actor, id, rotation))
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
