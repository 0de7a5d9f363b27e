import { Command } from 'commander'
import { systemClock } from '../../base/clock.ts'
import { readConfig } from '../../base/settings/config.ts'
import { type OperatorFlags, operatorCommand, print } from '../operator-command.ts'
import { count, ProgressLine } from '../output/progress-line.ts'

interface MoveFlags extends OperatorFlags {
  to?: string
}

export function databaseCommand(): Command {
  return new Command('database')
    .description('The control database.')
    .addCommand(
      operatorCommand(
        'move',
        'Copy the SQLite database into an empty PostgreSQL database and compare every table. Stop the service first. The SQLite file is not changed, and no server starts on it afterwards.',
        ['database move --to postgres://wayleave@db.example.org/wayleave'],
      )
        .option(
          '--to <url>',
          'the PostgreSQL database; without it, WAYLEAVE_DATABASE_URL, which no other process can read',
        )
        .action(move),
    )
}

async function move(flags: MoveFlags, command: Command): Promise<void> {
  const { dataDir, databaseUrl } = readConfig({
    flags: { dataDir: flags.dataDir, databaseUrl: flags.to },
    flagNames: { databaseUrl: '--to' },
  })
  if (!databaseUrl) command.error('error: give --to or set WAYLEAVE_DATABASE_URL', { exitCode: 2 })
  const { moveDatabase } = await import('../../operation/backup/move-database.ts')
  const line = new ProgressLine(process.stderr)
  const report = await moveDatabase({
    dataDir,
    to: databaseUrl!,
    clock: systemClock,
    onRows: (rows) => line.show(`Copied ${count(rows, 'row')}`),
  }).finally(() => line.clear())
  const verb = report.wasCopied ? 'were there already, and are the same' : 'were copied and are the same'
  print(
    flags,
    report,
    `${count(report.rows, 'row')} of ${count(report.tables, 'table')} ${verb}.\nSet WAYLEAVE_DATABASE_URL to ${report.to} with its password, and start the service. The data folder stays the same.`,
  )
}
