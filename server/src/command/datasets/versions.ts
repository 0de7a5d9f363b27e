import { VISIBILITIES, type Visibility } from '@wayleave/contract/visibilities'
import { type Command, Option } from 'commander'
import { operator } from '../../base/events/events.ts'
import type { Version } from '../../data/catalog/dataset.ts'
import { type OperatorFlags, operatorCommand, print, tableText } from '../operator-command.ts'
import { withParts } from '../with-parts.ts'
import { versionNumber } from './reading-flags.ts'

export function versionsCommand(): Command {
  return operatorCommand('versions <table>', 'List the versions of a dataset, or delete one.', [
    'versions parcels',
    'versions parcels --delete 3',
  ])
    .option('--delete <version>', 'delete this version, which is not the current one', versionNumber)
    .action(versions)
}

export function releaseCommand(): Command {
  return operatorCommand(
    'release <table>',
    'Release a draft: a version that was published with --draft becomes the current one, and a new dataset becomes visible.',
    ['release parcels', 'release parcels --visibility private'],
  )
    .addOption(new Option('--visibility <word>', 'who sees a new dataset then').choices([...VISIBILITIES]))
    .action(release)
}

export function rollbackCommand(): Command {
  return operatorCommand(
    'rollback <table>',
    'Make a new version with the data of an earlier one. Nothing is compiled or copied.',
    ['rollback parcels --to 3', 'rollback parcels --to 3 --note "Version 4 lacked a municipality."'],
  )
    .requiredOption('--to <version>', 'the earlier version (required)', versionNumber)
    .option('--note <text>', 'what is new in this version')
    .action(rollBack)
}

async function versions(table: string, flags: OperatorFlags & { delete?: number }): Promise<void> {
  const { delete: version } = flags
  if (version !== undefined) {
    await withParts(flags, (parts) => parts.versions.delete({ table, version, origin: operator }))
    return print(
      flags,
      { table, version },
      `Deleted version ${version} of ${table}. Its files are in the trash.`,
    )
  }
  const { data, draft } = await withParts(flags, async (parts) => {
    const { version: current } = await parts.catalog.find(table)
    const listed = await parts.catalog.versions(table)
    const draft = await parts.versions.findDraft(table)
    return {
      data: listed.map((one) => ({ ...recordOf(one), current: one.version === current })),
      draft: draft && recordOf(draft),
    }
  })
  const rows = [...(draft ? [{ ...draft, current: false }] : []), ...data].map((one) => [
    String(one.version),
    one.current ? 'current' : one.version === draft?.version ? 'draft' : '',
    String(one.rows),
    changesText(one.changes),
    one.createdAt.slice(0, 16).replace('T', ' '),
    one.note,
  ])
  print(
    flags,
    { data, draft },
    tableText(['VERSION', '', 'ROWS', 'CHANGES', 'CREATED', 'NOTE'], rows, 'There are none.'),
  )
}

function recordOf({
  version,
  createdAt,
  note,
  changes,
  manifest,
}: Pick<Version, 'version' | 'createdAt' | 'note' | 'changes'> & { manifest: { rows: number } }) {
  return { version, createdAt, rows: manifest.rows, note, changes }
}

/** The features added, removed and changed since the version before, as in the console. */
function changesText(changes: Version['changes']): string {
  if (changes === null) return '-'
  const [added, removed, changed] = [changes.added, changes.removed, changes.changed].map((count) =>
    count.toLocaleString('en'),
  )
  return `+${added} −${removed} ~${changed}`
}

async function release(table: string, flags: OperatorFlags & { visibility?: Visibility }): Promise<void> {
  const { visibility } = flags
  const version = await withParts(flags, (parts) =>
    parts.versions.release({ table, visibility, origin: operator }),
  )
  print(flags, { table, version }, `Released version ${version} of ${table}.`)
}

async function rollBack(table: string, flags: OperatorFlags & { to: number; note?: string }): Promise<void> {
  const { to, note } = flags
  const version = await withParts(flags, (parts) =>
    parts.versions.rollBack({ table, version: to, note, origin: operator }),
  )
  print(flags, { table, version }, `Version ${version} of ${table} has the data of version ${to}.`)
}
