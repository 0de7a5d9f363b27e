import type { Command } from 'commander'
import { DAY, plus } from '../../base/clock.ts'
import type { GarbageReport } from '../../data/publishing/garbage-collection.ts'
import { type OperatorFlags, operatorCommand, print, tableText } from '../operator-command.ts'
import { count } from '../output/progress-line.ts'
import { withParts } from '../with-parts.ts'

interface GcFlags extends OperatorFlags {
  dryRun?: boolean
}

export function gcCommand(): Command {
  return operatorCommand(
    'gc',
    'Move snapshots that no version names to the trash, and delete what was there for WAYLEAVE_TRASH_DAYS. A server does the same every hour.',
    ['gc --dry-run', 'gc --json'],
  )
    .option('--dry-run', 'list what would be done, and change nothing')
    .action(gc)
}

async function gc(flags: GcFlags): Promise<void> {
  const { dryRun = false } = flags
  const { report, trashDays } = await withParts(flags, async ({ garbage, config }) => ({
    report: await garbage.collect({ dryRun }),
    trashDays: config.trashDays,
  }))
  const trash = report.trash.map(({ entry, snapshot, discardedAt }) => ({
    snapshot,
    entry,
    discardedAt: discardedAt.toISOString(),
    deleteAfter: plus(discardedAt, trashDays * DAY).toISOString(),
  }))
  const deleted = report.deleted.map(({ snapshot }) => snapshot)
  print(flags, { dryRun, ...report, deleted, trash }, describe(report, dryRun, trashDays))
}

function describe(report: GarbageReport, dryRun: boolean, trashDays: number): string {
  const would = dryRun ? 'would be ' : ''
  const done: [string, string[]][] = [
    ['moved back from the trash', report.restored],
    ['moved to the trash', report.orphans],
    ['deleted, half-made', report.leftovers],
    [`deleted, in the trash for ${count(trashDays, 'day')}`, report.deleted.map(({ snapshot }) => snapshot)],
    ['left alone, for the database names no version at all', report.leftAlone],
    ['left alone, not ours', report.foreign],
  ]
  const rows = done.flatMap(([what, names]) =>
    names.map((name) => [name, what.startsWith('left') ? what : would + what]),
  )
  const trashSentence = `The trash holds ${report.trash.length} ${report.trash.length === 1 ? 'snapshot' : 'snapshots'}.`
  return `${tableText(['NAME', 'WHAT'], rows, 'There is nothing to do.')}\n\n${trashSentence}`
}
