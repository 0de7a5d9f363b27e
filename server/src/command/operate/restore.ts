import { createInterface } from 'node:readline/promises'
import { type Command, InvalidArgumentError } from 'commander'
import { systemClock } from '../../base/clock.ts'
import { type Config, readConfig } from '../../base/settings/config.ts'
import type {
  RestoreOptions,
  RestoreProgress,
  RestoreReport,
} from '../../operation/backup/restore/restore-backup.ts'
import { type OperatorFlags, operatorCommand, print } from '../operator-command.ts'
import { findingText } from '../output/finding-text.ts'
import { count, ProgressLine } from '../output/progress-line.ts'

interface RestoreFlags extends OperatorFlags {
  at?: Date
  force?: boolean
  verify?: boolean
  suspendKeys?: boolean
  revocations?: string[]
}

export function restoreCommand(): Command {
  return operatorCommand(
    'restore <source>',
    'Restore a backup from a folder or a bucket into an empty data folder and database, and into an empty bucket if WAYLEAVE_STORAGE_URL names one. Stop the service first. Users sign in again afterwards, and keys that were revoked since the backup stay revoked.',
    [
      'restore /backup/wayleave --data-dir /var/lib/wayleave',
      'restore /backup/wayleave --at 2026-01-31T12:00:00Z --force',
      'restore /backup/wayleave --revocations /old/data/revocations.log',
      'restore /backup/wayleave --verify',
      'restore s3://bucket/wayleave-backup --data-dir /var/lib/wayleave',
    ],
  )
    .option('--at <time>', 'the newest backup of this time or before it; without it, the newest', time)
    .option('--force', 'move what is in the data folder and the database aside; nothing is deleted')
    .option('--revocations <file>', 'a further list of revoked secrets; may be repeated', collect)
    .option('--suspend-keys', 'let every key that still works expire now; owners can extend each')
    .option('--verify', 'restore into a scratch folder only, compare everything, and change nothing')
    .action(restore)
}

async function restore(source: string, flags: RestoreFlags): Promise<void> {
  const config = readConfig({ flags: { dataDir: flags.dataDir } })
  if (flags.verify) return verify(source, config, flags)
  const { restoreBackup } = await import('../../operation/backup/restore/restore-backup.ts')
  const { openBackupTarget } = await import('../../operation/backup/target/open-backup-target.ts')
  const { isBucket, openBucket } = await import('../../base/storage/open-store.ts')
  const place = await openBackupTarget(source, config)
  const bucket = isBucket(config) ? await openBucket(config) : null
  const line = new ProgressLine(process.stderr)
  const options: RestoreOptions = {
    config,
    bucket,
    source: place,
    at: flags.at ?? null,
    force: flags.force === true,
    revocationFiles: flags.revocations ?? [],
    suspendKeys: flags.suspendKeys === true,
    clock: systemClock,
    onProgress: (progress) => line.show(progressText(progress)),
    confirmSuspension: flags.json ? undefined : askToSuspend(line),
  }
  let report: RestoreReport
  try {
    report = await restoreBackup(options)
  } finally {
    line.clear()
    await place.close()
    await bucket?.close()
  }
  const isWhole = report.missing.length === 0
  print(flags, { ...report, isWhole }, describe(report, options.revocationFiles.length > 0))
  if (!isWhole) process.exitCode = 1
}

async function verify(source: string, config: Config, flags: RestoreFlags): Promise<void> {
  const { verifyBackup } = await import('../../operation/backup/verify-backup.ts')
  const { openBackupTarget } = await import('../../operation/backup/target/open-backup-target.ts')
  const line = new ProgressLine(process.stderr)
  const place = await openBackupTarget(source, config)
  const verified = await verifyBackup(place, flags.at ?? null, (done, total) =>
    line.show(`Verifying snapshots: ${done} of ${total}`),
  ).finally(async () => {
    line.clear()
    await place.close()
  })
  const { backup, rows, snapshots, findings } = verified
  const text = `Restored ${backup} into a scratch folder: ${count(rows, 'row')}, ${count(snapshots, 'snapshot')}.`
  print(
    flags,
    { ...verified, isWhole: findings.length === 0 },
    [text, ...(findings.length === 0 ? ['Nothing is wrong.'] : findings.map(findingText))].join('\n'),
  )
  if (findings.length > 0) process.exitCode = 1
}

/** Prompts only on a terminal; a program uses --suspend-keys instead. */
function askToSuspend(line: ProgressLine): RestoreOptions['confirmSuspension'] {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined
  return async (workingKeys, until) => {
    line.clear()
    const terminal = createInterface({ input: process.stdin, output: process.stderr })
    try {
      const answer = await terminal.question(
        `Keys that were revoked after ${until} are not known and would work again.\nSuspend all ${count(workingKeys, 'working key')} until their owners extend them? [y/N] `,
      )
      return /^y(es)?$/i.test(answer.trim())
    } finally {
      terminal.close()
    }
  }
}

function progressText(progress: RestoreProgress): string {
  if (progress.phase === 'database') return `Database: ${count(progress.rows, 'row')}`
  const verb = progress.phase === 'checking' ? 'Checking' : 'Restoring'
  return `${verb} snapshots: ${progress.done} of ${progress.total}`
}

function describe(report: RestoreReport, hasLists: boolean): string {
  const lines = [
    `Restored the backup of ${report.at}.`,
    `  Snapshots  ${report.snapshots}`,
    `  Keys       ${report.workingKeys} work, ${report.revokedKeys} were revoked after the backup and stay revoked${report.suspendedKeys > 0 ? `, ${report.suspendedKeys} are suspended` : ''}`,
  ]
  if (report.movedAside) lines.push(`What was there before is kept as ${report.movedAside}.`)
  for (const { table, version, name, reason } of report.missing) {
    lines.push(
      `The backup lacks version ${version} of ${table} (${name}): ${reason}. Publish ${table} again.`,
    )
  }
  if (!report.hasOwnRevocations && report.suspendedKeys === 0) {
    const list = hasLists ? '' : '--revocations and the revocations.log of the old data folder, or with '
    lines.push(
      `Revocations are known until ${report.revocationsUntil}. Keys that were revoked later work again: revoke them, or restore again with ${list}--suspend-keys.`,
    )
  }
  lines.push('Everyone signs in again. Credits and members are as they were at the backup.')
  return lines.join('\n')
}

function time(text: string): Date {
  const date = new Date(text)
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(date.getTime())) {
    throw new InvalidArgumentError('It is a time such as 2026-01-31T12:00:00Z.')
  }
  return date
}

function collect(file: string, files: string[] = []): string[] {
  return [...files, file]
}
