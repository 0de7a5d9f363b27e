import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Inspection } from '@wayleave/geodata/compile'
import type { Command } from 'commander'
import type { DataWork } from '../../base/data-work.ts'
import type { Config } from '../../base/settings/config.ts'
import type { PublishOptions } from '../../data/publishing/publish-request.ts'
import { newOrExistingConfig } from '../command-config.ts'
import { interruptible } from '../interruptible.ts'
import { type OperatorFlags, operatorCommand, print, tableText } from '../operator-command.ts'
import { ProgressBar } from '../output/progress-bar.ts'
import { count } from '../output/progress-line.ts'
import { withParts } from '../with-parts.ts'
import {
  inputOf,
  modeOf,
  type ReadingFlags,
  readingOfFlags,
  requireFiles,
  tableName,
  withInput,
  withReadingFlags,
} from './reading-flags.ts'

interface InspectFlags extends OperatorFlags, ReadingFlags {
  table?: string
  append?: boolean
  update?: boolean
}

export function inspectCommand(inspect?: DataWork['inspect']): Command {
  const command = operatorCommand(
    'inspect <file...>',
    'Show what a file contains and what publishing it would do. Nothing is published.',
    ['inspect trees.csv', 'inspect trees.csv --table trees', 'inspect stops.csv --type code=text --json'],
  )
    .option('--table <name>', 'the dataset that the file is for: it is read by its schema', tableName)
    .option('--append', 'with --table: the file has features to add, so it may have fewer rows')
    .option('--update', 'with --table: the same, and the file may have fewer columns')
  return withReadingFlags(command).action((files: string[], flags: InspectFlags, self: Command) =>
    run(files, flags, self, inspect),
  )
}

async function run(
  files: string[],
  flags: InspectFlags,
  command: Command,
  inspect: DataWork['inspect'] | undefined,
): Promise<void> {
  requireFiles(files)
  const [file] = files as [string]
  const reading = await readingOfFlags(flags, command)
  const bar = new ProgressBar(process.stderr)
  const { table } = flags
  const mode = modeOf(flags, command)
  const work = (signal: AbortSignal) => {
    const options = {
      onProgress: (progress: Parameters<ProgressBar['show']>[0]) => bar.show(progress),
      signal,
    }
    if (table !== undefined)
      return withParts(flags, ({ publishing, config }) =>
        withInput(file, config.maxUploadBytes, signal, (path) =>
          publishing.inspect({ ...reading, table, mode, ...inputOf(files, path) }, options),
        ),
      )
    const config = newOrExistingConfig(flags)
    return withInput(file, config.maxUploadBytes, signal, (path) =>
      inspectAlone(config, { ...reading, ...inputOf(files, path) }, options, inspect),
    )
  }
  try {
    const inspection = await interruptible('Interrupted.', work)
    bar.clear()
    print(flags, inspection, describe(inspection))
  } finally {
    bar.clear()
  }
}

/** A file that is for no dataset yet needs no service. */
async function inspectAlone(
  config: Config,
  { schema, ...reading }: ReturnType<typeof inputOf> & Awaited<ReturnType<typeof readingOfFlags>>,
  { onProgress, signal }: Pick<PublishOptions, 'onProgress' | 'signal'>,
  inspect: DataWork['inspect'] | undefined,
): Promise<Inspection> {
  const { Sandbox } = await import('@wayleave/geodata/compile')
  const { childProcessWork } = await import('../../base/data-work.ts')
  const { compileSettings } = await import('../../assembly/compile-settings.ts')
  const { withSchema } = await import('../../data/publishing/schema/apply-schema.ts')
  const inspectFile = inspect ?? childProcessWork(new Sandbox(config.sandbox, [config.dataDir])).inspect
  const scratch = await mkdtemp(join(tmpdir(), 'wayleave-'))
  try {
    const options = { ...withSchema(reading, schema ?? null, true), ...compileSettings(config) }
    const { path } = reading
    return await inspectFile({ ...options, path, folder: join(scratch, 'snapshot') }, onProgress, signal)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

function describe(inspection: Inspection): string {
  const { columns, preview, problems, problemCount } = inspection
  const facts: string[][] = [
    ['Rows', inspection.rows.toLocaleString('en')],
    ['Format', inspection.format],
    ['Geometry', geometryText(inspection)],
    ['Bbox', inspection.bbox ? inspection.bbox.map((one) => +one.toFixed(6)).join(', ') : '-'],
    ['Time', inspection.timeColumn ?? '-'],
    ['CRS', inspection.crs ?? '-'],
  ]
  const listed = tableText(
    ['COLUMN', 'TYPE', 'ABOUT'],
    columns.map((column) => [column.name, column.type, aboutColumn(column)]),
    'It has no columns.',
  )
  const shown = columns.slice(0, 8)
  const rows = tableText(
    ['ROW', ...shown.map(({ name }) => name)],
    preview.map(({ row, values }) => [String(row), ...shown.map((_, i) => cell(values[i] ?? null))]),
    'It has no rows.',
  )
  const more = problemCount - problems.length
  return [
    `${inspection.file}: nothing was published.`,
    ...facts.map(([name, value]) => `  ${name!.padEnd(10)}${value}`),
    ...['', listed, '', rows],
    ...section(inspection.notes.map((note) => `Note: ${note}`)),
    ...section(inspection.misfits.map((misfit) => `Against the schema: ${misfit}`)),
    ...(problemCount > 0 ? ['', `${count(problemCount, 'row')} cannot be published:`] : []),
    ...problems.map(({ row, message }) => `  row ${row}: ${message}`),
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ].join('\n')
}

function geometryText({ geometryTypes, unlocated }: Inspection): string {
  const without = unlocated === 0 ? [] : [`${count(unlocated, 'row')} without`]
  return [...geometryTypes, ...without].join(', ') || 'none'
}

function section(lines: string[]): string[] {
  return lines.length > 0 ? ['', ...lines] : []
}

function aboutColumn({
  name,
  source,
  format,
  empty,
  isHidden,
  likely,
}: Inspection['columns'][number]): string {
  const first = likely?.examples[0]
  return [
    isHidden && 'hidden',
    source !== name && `named ${JSON.stringify(source)} in the file`,
    format,
    empty > 0 && `${empty.toLocaleString('en')} empty`,
    likely &&
      first &&
      `${likely.type} but for ${likely.disagreeing}: ${JSON.stringify(first.value)} in row ${first.row}`,
  ]
    .filter(Boolean)
    .join('; ')
}

function cell(value: string | null): string {
  if (value === null) return '-'
  const line = value.replace(/\s+/g, ' ')
  return line.length > 24 ? `${line.slice(0, 23)}…` : line
}
