import { existsSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import { isTable } from '../catalog/dataset.ts'
import { operator } from '../events/events.ts'
import type { PublishOptions, PublishReport } from '../publishing/publishing.ts'
import { splitKeywords } from '../publishing/split-keywords.ts'
import { type OperatorFlags, operatorCommand, print, tableText } from './operator-command.ts'
import { ProgressBar } from './output/progress-bar.ts'
import { withParts } from './with-parts.ts'

interface PublishFlags extends OperatorFlags {
  table: string
  title?: string
  description?: string
  license?: string
  attribution?: string
  keywords?: string
  credits?: number
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
}

export function publishCommand(compile?: PublishOptions['compile']): Command {
  return operatorCommand('publish <file>', 'Publish a file as a dataset, or as a dataset’s new version.', [
    'publish parcels.gpkg --table parcels --title "Parcels" --license CC-BY-4.0',
    'publish trees.csv --table trees --id-column tree_id --credits 5',
    'publish roads.zip --table roads --crs EPSG:25832 --skip-invalid',
  ])
    .requiredOption('--table <name>', 'the dataset’s name in addresses', tableName)
    .option('--title <text>', 'its name for people')
    .option('--description <text>', 'what it holds')
    .option('--license <text>', 'its license, by name or address')
    .option('--attribution <text>', 'whom users must name')
    .option('--keywords <words>', 'separated by commas')
    .option('--credits <n>', 'what one download costs (default 1 for a new dataset)', price)
    .option('--id-column <name>', 'the column that holds the features’ ids')
    .option('--time-column <name>', 'the column that `datetime` filters')
    .option('--crs <crs>', 'the CRS where the file does not state it, such as EPSG:25832')
    .option('--allow-inaccurate-crs', 'publish although the CRS cannot be brought to WGS84 within 20 m')
    .option('--layer <name>', 'the layer of a file that has several')
    .option('--format <name>', 'the format where the file does not show it')
    .option('--skip-invalid', 'publish the valid rows and report the others')
    .option('--no-sample', 'publish no free sample')
    .option('--no-tiles', 'build no vector tiles')
    .option('--build-exports', 'build every download format before the version is shown')
    .action((file: string, flags: PublishFlags) => publish(file, flags, compile))
}

async function publish(file: string, flags: PublishFlags, compile: PublishOptions['compile']): Promise<void> {
  if (!existsSync(file)) throw new Error(`There is no file ${file}.`)
  const bar = new ProgressBar(process.stderr)
  const { table, title, description, license, attribution, credits } = flags
  const {
    idColumn,
    timeColumn,
    crs,
    allowInaccurateCrs,
    layer,
    format,
    skipInvalid,
    sample,
    tiles,
    buildExports,
  } = flags
  const keywords = flags.keywords === undefined ? undefined : splitKeywords(flags.keywords)
  try {
    const { report, base } = await withParts(flags, async (parts) => ({
      report: await parts.publishing.publish(
        {
          table,
          path: file,
          description: { title, description, license, attribution, credits, keywords },
          ...{
            idColumn,
            timeColumn,
            crs,
            allowInaccurateCrs,
            layer,
            format,
            skipInvalid,
            sample,
            tiles,
            buildExports,
          },
        },
        operator,
        { onProgress: (progress) => bar.show(progress), ...(compile && { compile }) },
      ),
      base: parts.baseUrl.settled(),
    }))
    bar.clear()
    const urls = {
      dataset: `${base}/v1/dataset/${table}`,
      download: `${base}/v1/dataset/${table}/files/csv`,
      items: `${base}/v1/ogc/collections/${table}/items`,
    }
    print(flags, { ...report, urls }, describe(report, urls))
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
    ['Version', String(report.version)],
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
    `Published ${report.table} from ${report.file}.`,
    ...facts.map(([name, value]) => `  ${name!.padEnd(10)}${value}`),
    '',
    columns,
    ...(report.notes.length > 0 ? ['', ...report.notes.map((note) => `Note: ${note}`)] : []),
    ...(report.skipped > 0 ? ['', `Left out ${report.skipped} rows:`, ...problems] : []),
    '',
    ...Object.entries(urls).map(([name, url]) => `${name.padEnd(10)}${url}`),
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

function tableName(text: string): string {
  if (!isTable(text)) {
    throw new InvalidArgumentError(
      'A table name has 1 to 63 lower-case letters, digits and _, and begins with a letter.',
    )
  }
  return text
}

function price(text: string): number {
  const value = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN
  if (!(value <= 1_000_000)) throw new InvalidArgumentError('A price is a whole number from 0 to 1000000.')
  return value
}
