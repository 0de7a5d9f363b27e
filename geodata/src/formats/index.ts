import { stat } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import type { FeatureStream } from '../feature.ts'
import { SourceError } from '../source-error.ts'
import { chooseFormat, formatNamed, formatsWithExtension } from './choose-format.ts'
import type { Format, Input } from './format-table.ts'
import { openCompressed } from './open-compressed.ts'
import { partsOfFolder, type SourcePart, sourceParts } from './parts/source-part.ts'
import { type ByteSource, fileSource, growingSource, peek } from './reading/byte-source.ts'
import { refuseNonDataset } from './reading/not-a-dataset.ts'
import { ifItFits } from './reading/read-options.ts'
import { sniff } from './reading/sniff.ts'
import { limitsOf } from './reading/source-limits.ts'
import { refuseCoordinateColumns, withCoordinateColumns, withoutGeometry } from './reading/table-geometry.ts'
import { encodingNamed } from './reading/text/encoding.ts'
import { utf8Source } from './reading/text/text-decoding.ts'
import {
  cleanUp,
  type OpenedSource,
  onDisk,
  type SourceContext,
  type SourceOptions,
  temporaryFolder,
} from './source-context.ts'

export { FORMATS } from './choose-format.ts'
export type { OpenedSource, SourceOptions } from './source-context.ts'

const HEAD_BYTES = 1 << 16

/** Opens a file of any known format, compressed or not, by content; a wrong extension only adds a note. */
export async function openSource(path: string, options: SourceOptions = {}): Promise<OpenedSource> {
  const file = options.originalName ?? basename(path)
  const requestedFormat = options.format === undefined ? null : formatNamed(options.format)
  const context: SourceContext = {
    ...options,
    limits: limitsOf(options.limits),
    requestedFormat,
    isFormatChosen: requestedFormat !== null,
    isAlone: options.originalName !== undefined && options.originalName !== basename(path),
    cleanups: [],
  }
  const stats = await stat(path).catch(() => null)
  if (!stats?.isFile() && !stats?.isDirectory())
    throw new SourceError(`${file} cannot be read: it is not a file.`)
  try {
    const stream =
      options.parts !== undefined
        ? await openParts(sourceParts(file, options.parts), true, path, file, context)
        : stats.isDirectory()
          ? await openFolder(path, file, context)
          : await openBytes(
              context.grows ? growingSource(path, file) : await fileSource(path, file),
              file,
              path,
              context,
            )
    return whenDone(stream, () => cleanUp(context))
  } catch (error) {
    await cleanUp(context)
    throw error
  }
}

/** A folder is a geodatabase, by its name, or has files whose rows are read together. */
async function openFolder(path: string, file: string, context: SourceContext): Promise<OpenedSource> {
  if (/\.gdb\/?$/i.test(path))
    return openFormat(formatNamed('filegdb'), folderInput(path, file), path, context)
  return openParts(await partsOfFolder(path, file), true, path, file, context)
}

async function openParts(
  parts: SourcePart[],
  stays: boolean,
  path: string,
  file: string,
  context: SourceContext,
): Promise<OpenedSource> {
  const format = formatNamed('parquet')
  const { requestedFormat } = context
  if (requestedFormat && requestedFormat !== format)
    throw new SourceError(`${file} has several files, which are not read as ${requestedFormat.title}.`)
  return openFormat(format, { ...folderInput(path, file), parts, stays }, '', context)
}

/** `path` is the path of the same bytes on disk, or null if they come from a compressed file. */
async function openBytes(
  unread: ByteSource,
  name: string,
  path: string | null,
  context: SourceContext,
): Promise<OpenedSource> {
  const [head, source] = await peek(unread, HEAD_BYTES)
  const { file } = source
  const encoding = context.encoding === undefined ? null : encodingNamed(context.encoding)
  let kind = sniff(head.subarray(0, HEAD_BYTES))
  // The publisher's encoding may be one whose bytes do not look like text, such as UTF-16 without a mark.
  if (kind === 'binary' && encoding) kind = sniff(Buffer.from(encoding.decodeLossy(head)))
  if (kind === 'zip' || kind === 'gzip' || kind === 'zstd')
    return openCompressed(kind, name, path, context, source, { openBytes, openFormat, openParts })
  refuseNonDataset(head, kind === 'binary', file)
  const copy = kind === 'geopackage' && path !== null ? await copyWithLog(path, file, context) : null
  const ownPath = copy ?? path
  let unpacked: Promise<string> | null = null
  const diskPath = async () => {
    if (ownPath !== null) return ownPath
    unpacked ??= onDisk(source, name, context)
    return unpacked
  }
  const format = await chooseFormat(kind, file, head, context.requestedFormat, diskPath)
  const input: Input = {
    file,
    source: encoding && format.encoding === 'text' ? utf8Source(source, encoding) : source,
    path: diskPath,
    stays: path !== null,
    isAlone: context.isAlone,
  }
  if (path !== null && !format.isStreamed) await discard(source)
  const stream = await openFormat(format, input, name, context)
  if (copy !== null) stream.notes.push(`The changes in ${file}-wal, beside ${file}, were included.`)
  return stream
}

async function copyWithLog(path: string, file: string, context: SourceContext): Promise<string | null> {
  const { checkpointedCopy } = await import('./geopackage/checkpointed-copy.ts')
  return checkpointedCopy(path, file, () => temporaryFolder(context))
}

async function openFormat(
  format: Format,
  input: Input,
  name: string,
  context: SourceContext,
): Promise<OpenedSource> {
  const { file } = input
  refuseOptions(format, file, context)
  const read = await format.open(input, context)
  const stream = await applyCoordinates(read, format, { ...context, file })
  const extension = extname(name).toLowerCase()
  const expected = formatsWithExtension(extension)
  if (expected.length > 0 && !expected.includes(format))
    stream.notes.push(
      `${file} is ${format.title} by its content and was read so, although its name ends in ${extension}.`,
    )
  return Object.assign(stream, { format: format.name })
}

/** Options that do not apply to the format are errors, because the publisher expects them to have an effect. */
function refuseOptions(format: Format, file: string, context: SourceContext): void {
  if (context.layer !== undefined && !format.hasLayers)
    throw new SourceError(`${file} is ${format.title} and has no layers, so --layer cannot choose one.`)
  if (context.encoding !== undefined && format.encoding === undefined)
    throw new SourceError(
      `${file} is ${format.title}, whose encoding is fixed, so --encoding has no meaning.`,
    )
  for (const [option, value] of [
    ['--skip-lines', context.skipLines],
    ['--header-lines', context.headerLines],
  ] as const)
    if (value !== undefined && !format.hasHeader)
      throw new SourceError(
        `${file} is ${format.title}, which has no header row, so ${option} has no meaning.`,
      )
  if (context.headerLines !== undefined && context.header === false)
    throw new SourceError('--no-header and --header-lines contradict each other.')
  if (context.header !== undefined && !format.hasHeader)
    throw new SourceError(
      `${file} is ${format.title}, which has no header row, so --no-header has no meaning.`,
    )
}

async function applyCoordinates(
  stream: FeatureStream,
  { geometry }: Format,
  choice: SourceContext & { file: string },
): Promise<FeatureStream> {
  if (choice.geometry === false)
    return geometry === 'columns' && !stream.spatial ? stream : withoutGeometry(stream)
  if (geometry === 'table' && !stream.spatial) return withCoordinateColumns(stream, choice)
  if (geometry !== 'columns')
    ifItFits('coordinates', choice, stream.notes, () => refuseCoordinateColumns(choice, choice.file))
  return stream
}

function folderInput(path: string, file: string): Input {
  const source: ByteSource = { file, bytes: (async function* () {})(), totalBytes: null }
  return { file, source, path: async () => path, stays: true, isAlone: false }
}

async function discard(source: ByteSource): Promise<void> {
  await source.bytes[Symbol.asyncIterator]().return?.()
}

/** Makes the stream clean up at its end. It is changed in place, because a copy would lose its getters. */
function whenDone<T extends FeatureStream>(stream: T, cleanup: () => Promise<void>): T {
  const cleaning = <R>(read: () => AsyncIterable<R>) =>
    async function* () {
      try {
        yield* read.call(stream)
      } finally {
        await cleanup()
      }
    }
  stream.batches = cleaning(stream.batches)
  if ('blocks' in stream) stream.blocks = cleaning(stream.blocks as () => AsyncIterable<unknown>)
  return stream
}
