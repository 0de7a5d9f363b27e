import type { SourceRecord } from '@wayleave/contract/records'
import { Command } from 'commander'
import { operator } from '../../base/events/events.ts'
import type { PublishOptions } from '../../data/publishing/publish-request.ts'
import { interruptible } from '../interruptible.ts'
import { type OperatorFlags, operatorCommand, print, tableText } from '../operator-command.ts'
import { ProgressBar } from '../output/progress-bar.ts'
import { withParts } from '../with-parts.ts'
import { type SourceFlags, sourceSettingsOf, withSourceFlags } from './source-flags.ts'

interface SetFlags extends OperatorFlags, SourceFlags {
  every?: string
}

export function sourceCommand(compile?: PublishOptions['compile']): Command {
  const set = operatorCommand(
    'set <table> <address>',
    'Set the address that a dataset is refreshed from. A worker runs it, the first time at once.',
    [
      'source set stops https://data.example.org/stops.zip --every 6h',
      'source set parcels postgres://reader:PASSWORD@db.example.org/gis --source-table public.parcels --every "15 3 * * *"',
      'source set trees "https://wfs.example.org/wfs?service=WFS&typeNames=city:trees" --every 1d --id-column id',
    ],
  ).option(
    '--every <interval>',
    'an interval such as 30m, 6h, 1d or 1w, or a cron expression, in UTC or as "CRON_TZ=Europe/Vienna 15 3 * * *"; without it, only by hand',
  )
  return new Command('source')
    .description('Sources: addresses that datasets are refreshed from.')
    .addCommand(withSourceFlags(set).action(setSource))
    .addCommand(
      operatorCommand('list', 'List all sources.', ['source list', 'source list --json']).action(list),
    )
    .addCommand(
      operatorCommand('run <table>', 'Refresh a dataset from its source now, in this process.', [
        'source run stops',
      ]).action((table: string, flags: OperatorFlags) => run(table, flags, compile)),
    )
    .addCommand(
      operatorCommand('remove <table>', 'Remove the source of a dataset. The dataset stays.', [
        'source remove stops',
      ]).action(remove),
    )
}

async function setSource(table: string, address: string, flags: SetFlags): Promise<void> {
  const record = await withParts(flags, async ({ sources, catalog }) => {
    const ownerId = (await catalog.findIfAny(table))?.owner?.organizationId ?? null
    const { sourceHeader: headers, every = null } = flags
    return sources.set(
      { table, ownerId, address, headers, every, settings: sourceSettingsOf(flags) },
      operator,
    )
  })
  const when = record.every === null ? 'by hand' : `every ${record.every}`
  print(flags, record, `The source of ${table} is ${record.address}, ${when}.`)
}

async function list(flags: OperatorFlags): Promise<void> {
  const data = await withParts(flags, ({ sources }) => sources.list())
  const rows = data.map((source) => [
    source.table,
    source.address,
    source.every ?? '-',
    source.nextRunAt ?? '-',
    lastRunText(source),
  ])
  print(
    flags,
    { data },
    tableText(['TABLE', 'ADDRESS', 'EVERY', 'NEXT', 'LAST RUN'], rows, 'There are no sources.'),
  )
}

function lastRunText({ lastRun }: SourceRecord): string {
  if (lastRun === null) return '-'
  const { outcome, endedAt, version, problem } = lastRun
  const what = outcome === 'published' ? `version ${version}` : (problem?.split('\n')[0] ?? '')
  return `${endedAt} ${outcome}${what && `: ${what}`}`
}

async function run(table: string, flags: OperatorFlags, compile: PublishOptions['compile']): Promise<void> {
  const bar = new ProgressBar(process.stderr)
  const onProgress: PublishOptions['onProgress'] = (progress) => bar.show(progress)
  const report = await interruptible('Interrupted: nothing was published.', (signal) =>
    withParts(flags, ({ sourceRuns }) =>
      sourceRuns.run(table, operator, { isManual: true, signal, onProgress, ...(compile && { compile }) }),
    ),
  ).finally(() => bar.clear())
  print(
    flags,
    report ?? { table, unchanged: true },
    report
      ? `Published version ${report.version} of ${table}: ${report.rows} rows.`
      : `${table} has not changed.`,
  )
}

async function remove(table: string, flags: OperatorFlags): Promise<void> {
  await withParts(flags, ({ sources }) => sources.remove(table, operator))
  print(flags, { table, removed: true }, `Removed the source of ${table}.`)
}
