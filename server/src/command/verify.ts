import { join } from 'node:path'
import type { Command } from 'commander'
import { readConfig } from '../settings/config.ts'
import { type OperatorFlags, operatorCommand, print } from './operator-command.ts'
import { findingText } from './output/finding-text.ts'
import { count, megabytes, ProgressLine } from './output/progress-line.ts'
import { withControlPlane } from './with-parts.ts'

export function verifyCommand(): Command {
  return operatorCommand(
    'verify',
    'Check everything that is stored: the checksums of all snapshots, the catalog against the folder, the ledger against the balances. A running service goes on.',
    ['verify', 'verify --json'],
  ).action(verify)
}

async function verify(flags: OperatorFlags): Promise<void> {
  const { dataDir } = readConfig({ flags: { dataDir: flags.dataDir } })
  const { verifyDatabase } = await import('../verification/verify-database.ts')
  const { verifySnapshots } = await import('../verification/verify-snapshots.ts')
  const line = new ProgressLine(process.stderr)
  const result = await withControlPlane(flags, async ({ database }) => {
    const findings = await verifyDatabase(database)
    const report = await verifySnapshots(database.db, join(dataDir, 'snapshots'), (done, total) =>
      line.show(`Snapshots: ${done} of ${total}`),
    )
    return { ...report, findings: [...findings, ...report.findings] }
  }).finally(() => line.clear())
  const { findings, snapshots, bytes } = result
  const problems = findings.filter(({ severity }) => severity === 'problem').length
  const summary = `Checked ${count(snapshots, 'snapshot')} (${megabytes(bytes)}) and the database: ${problems === 0 ? 'no problem' : count(problems, 'problem')}.`
  print(flags, { ok: problems === 0, ...result }, [...findings.map(findingText), summary].join('\n'))
  if (problems > 0) process.exitCode = 1
}
