import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addAbortSignal } from 'node:stream'
import type { ColumnType } from '@wayleave/geodata/features'
import { type Command, InvalidArgumentError } from 'commander'
import { operator } from '../../base/events/events.ts'
import { isTable } from '../../data/catalog/dataset.ts'
import { COLUMN_TYPES } from '../../data/publishing/column-types.ts'
import { HEADER_LINES, SKIPPED_LINES } from '../../data/publishing/line-counts.ts'
import type { PublishOptions, PublishReport } from '../../data/publishing/publishing.ts'
import { isSourceAddress, parseSourceAddress } from '../../data/sources/source-address.ts'
import { newOrExistingConfig } from '../command-config.ts'
import { interruptible } from '../interruptible.ts'
import { type OperatorFlags, operatorCommand, print, tableText } from '../operator-command.ts'
import { ProgressBar } from '../output/progress-bar.ts'
import { withParts } from '../with-parts.ts'
import { type DescriptionFlags, descriptionOfFlags, withDescriptionFlags } from './description-flags.ts'
import { columnTypes, withAddressFlags } from './source-flags.ts'

interface PublishFlags extends OperatorFlags, DescriptionFlags {
  table: string
  note?: string
  idColumn?: string
  timeColumn?: string
  crs?: string
  allowInaccurateCrs?: boolean
  layer?: string
  format?: string
  skipInvalid?: boolean
  sample: boolean
  tiles: boolean
  buildExports?: boolean
  encoding?: string
  longitude?: string
  latitude?: string
  geometryColumn?: string
  geometry: boolean
  header: boolean
  skipLines?: number
  headerLines?: number
  type?: { [column: string]: ColumnType }
  sourceTable?: string
  query?: string
  sourceHeader?: Record<string, string>
  dryRun?: boolean
}

/** With `--json` all problems are listed, up to this many. */
const MAX_JSON_PROBLEMS = 100_000

export function publishCommand(compile?: PublishOptions['compile']): Command {
  const about = 'Publish a file, or what is at an address, as a dataset or as a dataset’s new version.'
  const command = operatorCommand('publish <file>', about, [
    'publish parcels.gpkg --table parcels --title "Parcels" --license CC-BY-4.0',
    'publish trees.csv --table trees --id-column tree_id --credits 5',
    'publish roads.zip --table roads --crs EPSG:25832 --skip-invalid',
    'publish stops.csv --table stops --longitude x --latitude y --type code=text --dry-run',
    'publish - --format csv --table stops < stops.csv',
    'publish https://data.example.org/stops.zip --table stops',
    'publish postgres://reader@db.example.org/gis --source-table public.parcels --table parcels',
  ]).requiredOption('--table <name>', 'the dataset’s name in addresses (required)', tableName)
  return withAddressFlags(withDescriptionFlags(command))
    .option('--note <text>', 'what is new in this version')
    .option('--id-column <name>', 'the column that holds the features’ ids')
    .option('--time-column <name>', 'the column that `datetime` filters')
    .option('--crs <crs>', 'the CRS if the file does not state it, such as EPSG:25832')
    .option('--allow-inaccurate-crs', 'publish although the CRS cannot be brought to WGS84 within 20 m')
    .option('--layer <name>', 'the layer or sheet of a file that has several')
    .option('--encoding <name>', 'the encoding of texts if the file does not state it, such as windows-1251')
    .option('--longitude <column>', 'the column of longitudes or x; together with --latitude')
    .option('--latitude <column>', 'the column of latitudes or y')
    .option('--geometry-column <column>', 'the column of WKT, WKB, GeoJSON or points as text')
    .option('--no-geometry', 'publish a table without geometry, whatever the file holds')
    .option('--no-header', 'the first row of the table is a row and has no column names')
    .option(
      '--skip-lines <n>',
      'leave out this many lines above the table, such as a title',
      lineCount(SKIPPED_LINES),
    )
    .option(
      '--header-lines <n>',
      'the column names take this many lines, whose texts are joined',
      lineCount(HEADER_LINES),
    )
    .option(
      '--type <column=type>',
      `the type of a column: ${COLUMN_TYPES.join(', ')}; may be repeated`,
      columnTypes,
    )
    .option('--format <name>', 'the format if the file does not show it')
    .option('--skip-invalid', 'publish the valid rows and report the others')
    .option('--no-sample', 'publish no free sample, and a coarser preview')
    .option('--no-tiles', 'build no vector tiles')
    .option('--build-exports', 'build every download format before the version is shown')
    .option('--dry-run', 'do everything except making the version visible, and print the report')
    .action((file: string, flags: PublishFlags, self: Command) => publish(file, flags, self, compile))
}

async function publish(
  file: string,
  flags: PublishFlags,
  command: Command,
  compile: PublishOptions['compile'],
): Promise<void> {
  if ((flags.longitude === undefined) !== (flags.latitude === undefined))
    command.error('error: give both of --longitude and --latitude, or neither', { exitCode: 2 })
  const isStandardInput = file === '-'
  const isAddress = isSourceAddress(file)
  if (!isStandardInput && !isAddress && !existsSync(file)) throw new Error(`There is no file ${file}.`)
  const bar = new ProgressBar(process.stderr)
  const { table, note } = flags
  const description = await descriptionOfFlags(flags)
  const { idColumn, timeColumn, crs, allowInaccurateCrs, layer, format, skipInvalid, sample, tiles } = flags
  const { buildExports, encoding, longitude, latitude, geometryColumn, type: types, dryRun } = flags
  const { skipLines, headerLines } = flags
  try {
    const publishing = (signal: AbortSignal) =>
      withParts(
        flags,
        async (parts) => {
          const request = {
            table,
            description,
            note,
            ...{ idColumn, timeColumn, crs, allowInaccurateCrs, layer, format, skipInvalid, sample },
            ...{ skipLines, headerLines },
            ...{ tiles, buildExports, encoding, longitude, latitude, geometryColumn, types, dryRun },
            // Commander sets options that begin with no- to true if they are absent.
            geometry: flags.geometry ? undefined : false,
            header: flags.header ? undefined : false,
            maxProblems: flags.json ? MAX_JSON_PROBLEMS : undefined,
          }
          const onProgress: PublishOptions['onProgress'] = (progress) => bar.show(progress)
          const options = { onProgress, signal, ...(compile && { compile }) }
          const publishPath = (path: string) =>
            parts.publishing.publish(
              { ...request, path, ...(isStandardInput && { file: 'standard input' }) },
              operator,
              options,
            )
          const publishAddress = async () => {
            const { credentials, ...address } = parseSourceAddress(file, flags.sourceHeader)
            const source = { ...address, sourceTable: flags.sourceTable, query: flags.query, geometryColumn }
            const { publishSource } = await import('../../data/sources/publish-source.ts')
            const wanted = { source, credentials, isOperator: true, publish: request }
            return (await publishSource(wanted, operator, parts, options))!.report
          }
          const published = isAddress
            ? await publishAddress()
            : isStandardInput
              ? await withStandardInput(parts.config.maxUploadBytes, signal, publishPath)
              : await publishPath(file)
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
    ['Version', report.version === null ? 'none: a dry run' : String(report.version)],
    ['Rows', `${report.rows.toLocaleString('en')} in ${report.seconds} s`],
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

/** Receives standard input into a temporary file, which is removed afterwards. */
async function withStandardInput<T>(
  maxBytes: number,
  signal: AbortSignal,
  publishPath: (path: string) => Promise<T>,
): Promise<T> {
  if (process.stdin.isTTY) throw new Error('Standard input is a terminal. Pipe a file into the command.')
  const folder = await mkdtemp(join(tmpdir(), 'wayleave-'))
  try {
    const path = join(folder, 'input')
    await (await import('../../data/publishing/upload-jobs/receive-upload.ts')).receiveUpload(
      addAbortSignal(signal, process.stdin),
      path,
      maxBytes,
    )
    return await publishPath(path)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function lineCount({ minimum, maximum }: typeof HEADER_LINES): (text: string) => number {
  return (text) => {
    const count = /^\d{1,4}$/.test(text) ? Number(text) : 0
    if (count >= minimum && count <= maximum) return count
    throw new InvalidArgumentError(`It is a whole number from ${minimum} to ${maximum}.`)
  }
}

function tableName(text: string): string {
  if (!isTable(text)) {
    throw new InvalidArgumentError(
      'A table name has 1 to 63 lower-case letters, digits and _, and begins with a letter.',
    )
  }
  return text
}
