import type { Command } from 'commander'
import type { Version } from '../../data/catalog/dataset.ts'
import type { PrunedKind } from '../../data/retention/retention.ts'
import { type OperatorFlags, operatorCommand, print, tableText } from '../operator-command.ts'
import { megabytes } from '../output/progress-line.ts'
import { withParts } from '../with-parts.ts'

interface PruneFlags extends OperatorFlags {
  dryRun?: boolean
}

export function pruneCommand(): Command {
  return operatorCommand(
    'prune',
    'Delete what is older than the settings say, now. The service does the same every hour; it deletes old versions when a new one is published. The ledger is never touched.',
    ['prune --dry-run', 'prune'],
  )
    .option('--dry-run', 'only count what would be deleted')
    .action(prune)
}

async function prune(flags: PruneFlags): Promise<void> {
  const dryRun = flags.dryRun === true
  const { Retention } = await import('../../data/retention/retention.ts')
  const { removeOldVersions } = await import('../../data/retention/old-versions.ts')
  const data = await withParts(flags, async ({ database, changes, clock, config, blobs, health }) => {
    const { db } = database
    const pruned = await new Retention({ db, clock, config, blobs }).apply({ dryRun })
    const { keepVersions } = config
    const removeSnapshot = (snapshot: string) => blobs.discard(snapshot, clock())
    const isWhole = async (version: Version) => (await health.firstCheck(version)) === null
    const versions =
      keepVersions === null
        ? 0
        : await removeOldVersions({ db, changes, removeSnapshot, isWhole }, keepVersions, { dryRun })
    return [...pruned, { what: 'versions', setting: 'WAYLEAVE_KEEP_VERSIONS', days: null, removed: versions }]
  })
  const rows = data.map((row: PrunedKind) => [
    row.what,
    row.days === null ? '-' : `${row.days} days`,
    row.setting,
    row.bytes === undefined ? String(row.removed) : `${row.removed} (${megabytes(row.bytes)})`,
  ])
  print(
    flags,
    { dryRun, data },
    tableText(['WHAT', 'KEPT FOR', 'SETTING', dryRun ? 'WOULD DELETE' : 'DELETED'], rows, ''),
  )
}
