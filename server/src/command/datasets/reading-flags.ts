import { statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { addAbortSignal } from 'node:stream'
import type { CompileOptions } from '@wayleave/geodata/compile'
import { type Command, InvalidArgumentError } from 'commander'
import { isTable } from '../../data/catalog/dataset.ts'
import { HEADER_LINES, SKIPPED_LINES } from '../../data/publishing/line-counts.ts'
import { type FormatFlags, withFormatFlags } from './source-flags.ts'

/** The flags that say how a file is read, of `publish` and of `inspect`. */
export interface ReadingFlags extends FormatFlags {
  geometry: boolean
  header: boolean
  skipLines?: number
  headerLines?: number
  /** The path of a JSON file. */
  schema?: string
}

export function withReadingFlags(command: Command): Command {
  return withFormatFlags(command)
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
      '--schema <file>',
      'a JSON file with what is fixed about this and later versions, as `wayleave schema` prints it',
    )
}

/** What a file of changes does. Exits with a usage error if both are given. */
export function modeOf(
  { append, update }: { append?: boolean; update?: boolean },
  command: Command,
): 'append' | 'update' | undefined {
  if (append && update) command.error('error: give one of --append and --update', { exitCode: 2 })
  return append ? 'append' : update ? 'update' : undefined
}

/** The options of a request. Exits with a usage error if flags contradict each other. */
export async function readingOfFlags(flags: ReadingFlags, command: Command) {
  if ((flags.longitude === undefined) !== (flags.latitude === undefined))
    command.error('error: give both of --longitude and --latitude, or neither', { exitCode: 2 })
  const { idColumn, timeColumn, crs, allowInaccurateCrs, layer, format, encoding } = flags
  const { longitude, latitude, geometryColumn, skipLines, headerLines, type: types } = flags
  return {
    ...{ idColumn, timeColumn, crs, allowInaccurateCrs, layer, format, encoding },
    ...{ longitude, latitude, geometryColumn, skipLines, headerLines, types },
    // Commander sets options that begin with no- to true if they are absent.
    geometry: flags.geometry ? undefined : false,
    header: flags.header ? undefined : false,
    schema: flags.schema === undefined ? undefined : await readSchemaFile(flags.schema),
  }
}

export async function readSchemaFile(path: string) {
  const { readFile } = await import('node:fs/promises')
  const { parseSchema } = await import('../../data/publishing/schema/parse-schema.ts')
  return parseSchema(await readFile(path, 'utf8'))
}

/** Does the work with the path of a file; `-` is standard input. */
export async function withInput<T>(
  file: string,
  maxBytes: number,
  signal: AbortSignal,
  work: (path: string) => Promise<T>,
): Promise<T> {
  if (file === '-') return withStandardInput(maxBytes, signal, work)
  return work(file)
}

/** The sandbox shows each file by an argument of its own, and the length of a command line is limited. */
const MAX_FILES = 1000

/** One file, a folder, standard input, or several files. */
export function requireFiles(files: string[]): void {
  if (files.length > MAX_FILES)
    throw new Error(
      `${files.length} files were named; at most ${MAX_FILES} can be. Name their folder instead.`,
    )
  for (const file of files) {
    if (file === '-' && files.length === 1) continue
    const stats = statSync(file, { throwIfNoEntry: false })
    if (!stats) throw new Error(`There is no file ${file}.`)
    if (files.length > 1 && !stats.isFile())
      throw new Error(`${file} is not a file. Name one folder, or several files.`)
  }
}

/** What is published for the arguments of a command, whose first file is at `path`. */
export function inputOf(files: string[], path: string): Pick<CompileOptions, 'path' | 'parts' | 'file'> {
  const [first] = files as [string]
  if (first === '-') return { path, file: 'standard input' }
  if (files.length === 1) return { path, file: basename(first) }
  return {
    path,
    parts: files.map((file) => ({ path: file, name: file, file })),
    file: `${basename(first)} and ${files.length - 1} more`,
  }
}

/** Receives standard input into a temporary file, which is removed afterwards. */
async function withStandardInput<T>(
  maxBytes: number,
  signal: AbortSignal,
  work: (path: string) => Promise<T>,
): Promise<T> {
  if (process.stdin.isTTY) throw new Error('Standard input is a terminal. Pipe a file into the command.')
  const folder = await mkdtemp(join(tmpdir(), 'wayleave-'))
  try {
    const path = join(folder, 'input')
    await (await import('../../data/publishing/upload-jobs/receive-upload.ts')).receiveUpload(
      addAbortSignal(signal, process.stdin),
      path,
      // The folder is the operator's.
      { maxBytes, minFreeBytes: 0 },
    )
    return await work(path)
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

export function tableName(text: string): string {
  if (!isTable(text)) {
    throw new InvalidArgumentError(
      'A table name has 1 to 63 lower-case letters, digits and _, and begins with a letter.',
    )
  }
  return text
}

export function versionNumber(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('It is a whole number from 1.')
  return Number(text)
}
