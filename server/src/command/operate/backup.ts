import { type Command, InvalidArgumentError } from 'commander'
import { systemClock } from '../../base/clock.ts'
import type { BackupProgress, BackupReport } from '../../operation/backup/make-backup.ts'
import type { VerifiedBackup } from '../../operation/backup/verify-backup.ts'
import { existingConfig } from '../command-config.ts'
import { type OperatorFlags, operatorCommand, print } from '../operator-command.ts'
import { findingText } from '../output/finding-text.ts'
import { count, megabytes, ProgressLine } from '../output/progress-line.ts'

interface BackupFlags extends OperatorFlags {
  keep?: number
  verify?: boolean
}

export function backupCommand(): Command {
  return operatorCommand(
    'backup <target>',
    'Back up the database and all snapshots into a folder or a bucket, while the service runs. Snapshots that are there already are not copied again. The backup holds signing keys and hashes of secrets: keep it private.',
    [
      'backup /backup/wayleave',
      'backup /backup/wayleave --keep 30 --verify',
      'backup s3://bucket/wayleave-backup --keep 30',
    ],
  )
    .option(
      '--keep <n>',
      'keep the newest n backups and remove older ones; without it, all are kept',
      positive,
    )
    .option('--verify', 'then restore the backup into a scratch folder and compare everything')
    .action(backup)
}

async function backup(target: string, flags: BackupFlags): Promise<void> {
  const config = existingConfig(flags)
  const { makeBackup } = await import('../../operation/backup/make-backup.ts')
  const { verifyBackup } = await import('../../operation/backup/verify-backup.ts')
  const { openBackupTarget } = await import('../../operation/backup/target/open-backup-target.ts')
  const { isBucket, openBucket } = await import('../../base/storage/open-store.ts')
  const { snapshotsFolder } = await import('../../base/storage/snapshots-folder.ts')
  const bucket = isBucket(config) ? await openBucket(config) : null
  const place = await openBackupTarget(target, config)
  const line = new ProgressLine(process.stderr)
  let report: BackupReport
  let verified: VerifiedBackup | null = null
  try {
    report = await makeBackup({
      config,
      bucket,
      snapshots: snapshotsFolder(config),
      target: place,
      clock: systemClock,
      keep: flags.keep ?? null,
      onProgress: (progress) => line.show(progressText(progress)),
    })
    if (flags.verify) {
      verified = await verifyBackup(place, { name: report.backup }, (done, total) =>
        line.show(`Verifying snapshots: ${done} of ${total}`),
      )
    }
  } finally {
    line.clear()
    await place.close()
    await bucket?.close()
  }
  const findings = verified?.findings ?? []
  const isWhole = report.missing.length === 0 && findings.length === 0
  print(flags, { ...report, isWhole, ...(verified ? { verified } : {}) }, describe(report, verified))
  if (!isWhole) process.exitCode = 1
}

function progressText(progress: BackupProgress): string {
  return progress.phase === 'database'
    ? `Database: ${count(progress.rows, 'row')}`
    : `Snapshots: ${progress.done} of ${progress.total}`
}

function describe(report: BackupReport, verified: VerifiedBackup | null): string {
  const lines = [
    `Backed up to ${report.folder}.`,
    `  Database   ${count(report.rows, 'row')} in ${megabytes(report.databaseBytes)}`,
    `  Snapshots  ${report.snapshots}, of which ${report.copied} were copied now (${megabytes(report.copiedBytes)})`,
  ]
  if (report.removed.length > 0) lines.push(`  Removed    ${count(report.removed.length, 'older backup')}`)
  if (verified) {
    const result = verified.findings.length === 0 ? 'nothing is wrong' : 'see below'
    lines.push(
      `  Verified   ${count(verified.rows, 'row')} and ${count(verified.snapshots, 'snapshot')}: ${result}`,
    )
  }
  if (report.after !== null) {
    lines.push(
      `The backup ${report.after} has a later time than the clock now (${report.at}): the clock was ahead then, or is behind now. The new backup is named a millisecond after the newest one, so it is the newest. Check the clock.`,
    )
  }
  for (const { table, version, name, reason } of report.missing) {
    lines.push(
      `Not backed up: version ${version} of ${table} (${name}): ${reason}. Publish ${table} again, or copy the snapshot from an older backup.`,
    )
  }
  for (const finding of verified?.findings ?? []) lines.push(findingText(finding))
  return lines.join('\n')
}

function positive(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('It is a whole number from 1.')
  return Number(text)
}
