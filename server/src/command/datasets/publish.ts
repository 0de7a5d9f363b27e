import type { Command } from 'commander'
import { operator } from '../../base/events/events.ts'
import type { PublishOptions, PublishReport } from '../../data/publishing/publish-request.ts'
import { newOrExistingConfig } from '../command-config.ts'
import { interruptible } from '../interruptible.ts'
import { type OperatorFlags, operatorCommand, print, tableText } from '../operator-command.ts'
import { ProgressBar } from '../output/progress-bar.ts'
import { withParts } from '../with-parts.ts'
import { type DescriptionFlags, descriptionOfFlags, withDescriptionFlags } from './description-flags.ts'
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
import { withAddressFlags } from './source-flags.ts'

interface PublishFlags extends OperatorFlags, DescriptionFlags, ReadingFlags {
  table: string
  note?: string
  skipInvalid?: boolean
  sample: boolean
  tiles: boolean
  buildExports?: boolean
  dryRun?: boolean
  ignoreSchema?: boolean
  draft?: boolean
  append?: boolean
  update?: boolean
  deleteMissing?: boolean
  sourceTable?: string
  query?: string
  sourceHeader?: Record<string, string>
}

/** With `--json` all problems are listed, up to this many. */
const MAX_JSON_PROBLEMS = 100_000

export function publishCommand(compile?: PublishOptions['compile']): Command {
  const about =
    'Publish a file, the Parquet files of a folder, or what is at an address, as a dataset or as a dataset’s new version.'
  const command = operatorCommand('publish <file...>', about, [
    'publish parcels.gpkg --table parcels --title "Parcels" --license CC-BY-4.0',
    'publish trees.csv --table trees --id-column tree_id --credits 5',
    'publish roads.zip --table roads --crs EPSG:25832 --skip-invalid',
    'publish stops.csv --table stops --longitude x --latitude y --type code=text --dry-run',
    'publish new-trees.csv --table trees --append',
    'publish trees.csv --table trees --update --delete-missing',
    'publish parts/*.parquet --table buildings',
    'publish buildings/ --table buildings',
    'publish - --format csv --table stops < stops.csv',
    'publish https://data.example.org/stops.zip --table stops',
    'publish s3://exports/buildings/ --table buildings',
    'publish postgres://reader@db.example.org/gis --source-table public.parcels --table parcels',
  ]).requiredOption('--table <name>', 'the dataset’s name in addresses (required)', tableName)
  return withReadingFlags(
    withAddressFlags(withDescriptionFlags(command)).option('--note <text>', 'what is new in this version'),
  )
    .option('--skip-invalid', 'publish the valid rows and report the others')
    .option('--no-sample', 'publish no free sample, and a coarser preview')
    .option('--no-tiles', 'build no vector tiles')
    .option('--build-exports', 'build every download format before the version is shown')
    .option('--dry-run', 'do everything except making the version visible, and print the report')
    .option('--ignore-schema', 'publish although the file differs from the schema of the dataset')
    .option('--append', 'add the features of the file to the current version')
    .option(
      '--update',
      'the same, and replace features by their ids; columns that the file lacks keep their values',
    )
    .option('--delete-missing', 'with --update: remove the features that the file does not have')
    .option('--draft', 'keep the version back until `wayleave release`')
    .action((files: string[], flags: PublishFlags, self: Command) => publish(files, flags, self, compile))
}

async function publish(
  files: string[],
  flags: PublishFlags,
  command: Command,
  compile: PublishOptions['compile'],
): Promise<void> {
  const reading = await readingOfFlags(flags, command)
  const mode = modeOf(flags, command)
  if (flags.deleteMissing && mode !== 'update')
    command.error('error: --delete-missing needs --update', { exitCode: 2 })
  // Loaded here: `--help` needs none of it.
  const { isSourceAddress, parseSourceAddress } = await import('../../data/sources/source-address.ts')
  const [file] = files as [string]
  const isAddress = files.length === 1 && isSourceAddress(file)
  if (!isAddress) requireFiles(files)
  const bar = new ProgressBar(process.stderr)
  const { table, note, skipInvalid, sample, tiles, buildExports, dryRun, ignoreSchema } = flags
  const { draft, deleteMissing } = flags
  const description = await descriptionOfFlags(flags)
  try {
    const publishing = (signal: AbortSignal) =>
      withParts(
        flags,
        async (parts) => {
          const request = {
            ...{ table, description, note, ...reading },
            ...{ skipInvalid, sample, tiles, buildExports, dryRun, ignoreSchema, draft, mode, deleteMissing },
            maxProblems: flags.json ? MAX_JSON_PROBLEMS : undefined,
          }
          const onProgress: PublishOptions['onProgress'] = (progress) => bar.show(progress)
          const options = { onProgress, signal, ...(compile && { compile }) }
          const publishPath = (path: string) =>
            parts.publishing.publish({ ...request, ...inputOf(files, path) }, operator, options)
          const publishAddress = async () => {
            const { credentials, ...address } = parseSourceAddress(file, flags.sourceHeader)
            const { sourceTable, query, geometryColumn } = flags
            const source = { ...address, sourceTable, query, geometryColumn }
            const { publishSource } = await import('../../data/sources/publish-source.ts')
            const wanted = { source, credentials, isOperator: true, publish: request }
            return (await publishSource(wanted, operator, parts, options))!.report
          }
          const published = isAddress
            ? await publishAddress()
            : await withInput(file, parts.config.maxUploadBytes, signal, publishPath)
          return { report: published, base: parts.baseUrl.settled() }
        },
        newOrExistingConfig,
      )
    const { report, base } = await interruptible('Interrupted: nothing was published.', publishing)
    bar.clear()
    const urls = {
      dataset: `${base}/v1/dataset/${table}`,
      download: `${base}/v1/dataset/${table}/files/csv`,
      items: `${base}/v1/ogc/collections/${table}/items`,
    }
    print(
      flags,
      report.version === null ? { ...report, dryRun: true } : { ...report, urls },
      describe(report, urls),
    )
  } catch (error) {
    bar.clear()
    const { InvalidSourceError } = await import('@wayleave/geodata/compile')
    if (error instanceof InvalidSourceError) {
      const { message, file: name, problems, problemCount } = error
      if (flags.json) {
        process.stdout.write(`${JSON.stringify({ error: message, file: name, problems, problemCount })}\n`)
        process.exitCode = 1
        return
      }
      const lines = problems.map((problem) => `  row ${problem.row}: ${problem.message}`)
      const more = problemCount > problems.length ? [`  … and ${problemCount - problems.length} more`] : []
      throw new Error(
        [
          `${name} has ${problemCount} ${problemCount === 1 ? 'row' : 'rows'} that cannot be published; nothing was.`,
          ...lines,
          ...more,
        ].join('\n'),
        { cause: error },
      )
    }
    throw error
  }
}

function describe(report: PublishReport, urls: Record<string, string>): string {
  const facts: string[][] = [
    ['Version', versionText(report)],
    ['Rows', `${report.rows.toLocaleString('en')} in ${report.seconds} s${changesText(report)}`],
    ['Format', report.format],
    ['Geometry', report.geometryTypes.length > 0 ? report.geometryTypes.join(', ') : 'none'],
    ['Bbox', report.bbox ? report.bbox.map((one) => +one.toFixed(6)).join(', ') : '-'],
    ['Time', timeText(report)],
    ['CRS', crsText(report)],
  ]
  const columns = tableText(
    ['COLUMN', 'TYPE', ''],
    report.columns.map((column) => [column.name, column.type, column.nullable ? 'nullable' : '']),
    'It has no columns.',
  )
  const problems = report.problems.map((problem) => `  row ${problem.row}: ${problem.message}`)
  return [
    report.version === null
      ? `${report.file} can be published as ${report.table}; nothing was changed.`
      : `Published ${report.table} from ${report.file}.`,
    ...facts.map(([name, value]) => `  ${name!.padEnd(10)}${value}`),
    '',
    columns,
    ...(report.notes.length > 0 ? ['', ...report.notes.map((note) => `Note: ${note}`)] : []),
    ...(report.skipped > 0 ? ['', `Left out ${report.skipped} rows:`, ...problems] : []),
    '',
    ...(report.version === null ? [] : Object.entries(urls)).map(([name, url]) => `${name.padEnd(10)}${url}`),
  ].join('\n')
}

function changesText({ changes }: PublishReport): string {
  if (changes === undefined) return ''
  const { added, updated, removed } = changes
  return `: ${added} added, ${updated} updated, ${removed} removed`
}

function versionText({ version, isDraft, table }: PublishReport): string {
  if (version === null) return 'none: a dry run'
  return isDraft ? `${version}, a draft until \`wayleave release ${table}\`` : String(version)
}

function crsText({ crs, crsTransformation }: PublishReport): string {
  if (crs === null || crsTransformation === null) return crs ?? '-'
  const { name, accuracy } = crsTransformation
  const stated = accuracy === null ? 'accuracy not known' : `accurate to ${accuracy} m`
  return `${crs}, to WGS84 by ${name} (${stated})`
}

function timeText({ timeColumn, timeExtent }: PublishReport): string {
  if (timeColumn === null) return '-'
  return timeExtent === null ? `${timeColumn}, all empty` : `${timeColumn}, ${timeExtent.join(' to ')}`
}
