import type { Command } from 'commander'
import type { Db } from '../../base/database/open.ts'
import type { Config } from '../../base/settings/config.ts'
import type { SnapshotReport } from '../../operation/verification/verify-snapshots.ts'
import { existingConfig } from '../command-config.ts'
import { type OperatorFlags, operatorCommand, print } from '../operator-command.ts'
import { findingText } from '../output/finding-text.ts'
import { count, megabytes, ProgressLine } from '../output/progress-line.ts'
import { withControlPlane } from '../with-parts.ts'

export function verifyCommand(): Command {
  return operatorCommand(
    'verify',
    'Check everything that is stored: the checksums of all snapshots, the catalog against the folder, the ledger against the balances. A running service goes on.',
    ['verify', 'verify --json'],
  ).action(verify)
}

async function verify(flags: OperatorFlags): Promise<void> {
  const config = existingConfig(flags)
  const { isBucket } = await import('../../base/storage/open-store.ts')
  const { snapshotsFolder } = await import('../../base/storage/snapshots-folder.ts')
  const { verifyDatabase } = await import('../../operation/verification/verify-database.ts')
  const { verifySnapshots } = await import('../../operation/verification/verify-snapshots.ts')
  const { verifySources } = await import('../../operation/verification/verify-sources.ts')
  const line = new ProgressLine(process.stderr)
  const result = await withControlPlane(flags, async ({ database }) => {
    const findings = await verifyDatabase(database)
    const show = (done: number, total: number) => line.show(`Snapshots: ${done} of ${total}`)
    const report = isBucket(config)
      ? await verifyBucket(config, database.db, show)
      : await verifySnapshots(database.db, snapshotsFolder(config), show)
    const sources = await verifySources(database.db)
    return { ...report, findings: [...findings, ...report.findings, ...sources] }
  }).finally(() => line.clear())
  const { findings, snapshots, bytes } = result
  const problems = findings.filter(({ severity }) => severity === 'problem').length
  const summary = `Checked ${count(snapshots, 'snapshot')} (${megabytes(bytes)}) and the database: ${problems === 0 ? 'no problem' : count(problems, 'problem')}.`
  print(flags, { ok: problems === 0, ...result }, [...findings.map(findingText), summary].join('\n'))
  if (problems > 0) process.exitCode = 1
}

async function verifyBucket(
  config: Config,
  db: Db,
  onSnapshot: (done: number, total: number) => void,
): Promise<SnapshotReport> {
  const { openBucket } = await import('../../base/storage/open-store.ts')
  const { checkStorage } = await import('../../operation/verification/check-storage.ts')
  const store = await openBucket(config)
  const { snapshots, bytes, findings } = await checkStorage({
    db,
    place: { store, isBucket: true },
    isDeep: true,
    isRepaired: false,
    copies: [],
    scratch: config.dataDir,
    onSnapshot,
  }).finally(() => store.close())
  return {
    snapshots,
    bytes,
    findings: findings.map(({ kind, key, message }) => ({
      severity: kind === 'orphaned' ? 'warning' : 'problem',
      check: 'snapshot',
      subject: key,
      message,
      remedy:
        kind === 'orphaned'
          ? 'Nothing is lost.'
          : 'Run `wayleave storage check --repair`, with --from if another place has a copy, or publish the dataset again.',
    })),
  }
}
