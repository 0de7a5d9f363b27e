import { createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, extname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { FeatureStream } from '../feature.ts'
import { SourceError } from '../source-error.ts'
import { type ByteSource, fileSource, gunzipSource, peek } from './reading/byte-source.ts'
import { type Kind, sniff } from './reading/sniff.ts'
import { DEFAULT_LIMITS, type SourceLimits } from './reading/source-limits.ts'

/** A format that can be read: its name in options and manifests, and its title in messages. */
export interface Format {
  name: Kind
  title: string
  extensions: string[]
  open(input: Input, options: OpenOptions): Promise<FeatureStream>
}

interface Input {
  file: string
  source: ByteSource
  /** The path of the same bytes on disk, for formats that cannot be read sequentially. */
  path(): Promise<string>
  /** Whether that file still exists after the source has been read. */
  stays: boolean
}

interface OpenOptions {
  layer?: string
  crs?: string
  limits: SourceLimits
  databaseMegabytes?: number
}

/** The table of formats. Readers are imported when needed, because some load a database. */
export const FORMATS: Format[] = [
  {
    name: 'geojson',
    title: 'GeoJSON',
    extensions: ['.geojson', '.json', '.geojsonl', '.geojsons', '.ndgeojson', '.ndjson', '.jsonl'],
    async open({ source, path, stays }, { limits, crs }) {
      const { openGeojson } = await import('./geojson/geojson.ts')
      const { readTailMembers } = await import('./geojson/geojson-tail.ts')
      return openGeojson(source, {
        crs,
        // The end of a compressed file is unknown until all of it has been read.
        tailMembers: stays ? async () => readTailMembers(await path()) : undefined,
        maxColumns: limits.columns,
        maxFeatureBytes: limits.rowBytes,
        maxDepth: limits.depth,
      })
    },
  },
  {
    name: 'csv',
    title: 'CSV',
    extensions: ['.csv', '.tsv', '.tab', '.txt', '.psv'],
    open: async ({ source }, options) => (await import('./csv/csv.ts')).openCsv(source, options),
  },
  {
    name: 'json',
    title: 'JSON rows',
    extensions: ['.json', '.ndjson', '.jsonl'],
    open: async ({ source }, options) => (await import('./json/json.ts')).openJson(source, options),
  },
  {
    name: 'shapefile',
    title: 'Shapefile',
    extensions: ['.shp'],
    async open({ path, file }, options) {
      const { openShapefile } = await import('./shapefile/shapefile.ts')
      return openShapefile(await path(), file, options)
    },
  },
  {
    name: 'geopackage',
    title: 'GeoPackage',
    extensions: ['.gpkg'],
    async open({ path, file }, options) {
      const { openGeopackage } = await import('./geopackage/geopackage.ts')
      return openGeopackage(await path(), file, options)
    },
  },
  {
    name: 'flatgeobuf',
    title: 'FlatGeobuf',
    extensions: ['.fgb'],
    open: async ({ source }, options) =>
      (await import('./flatgeobuf/flatgeobuf.ts')).openFlatgeobuf(source, options),
  },
  {
    name: 'parquet',
    title: 'Parquet',
    extensions: ['.parquet', '.geoparquet', '.pq'],
    async open({ path, file, stays }, { limits, crs, databaseMegabytes }) {
      const { openParquet } = await import('./parquet/parquet.ts')
      return openParquet(await path(), file, { limits, crs, stays, databaseMegabytes })
    },
  },
  {
    name: 'kml',
    title: 'KML',
    extensions: ['.kml'],
    open: async ({ source }, options) => (await import('./kml/kml.ts')).openKml(source, options),
  },
]

export interface SourceOptions {
  /** A name in `FORMATS`; detected from the file's content if absent. */
  format?: string
  /** The layer of a GeoPackage, the shapefile or file in a zip. */
  layer?: string
  /** The CRS chosen by the publisher; with it, coordinates need not be degrees. */
  crs?: string
  limits?: Partial<SourceLimits>
  /** The original file name, if `path` is a temporary file. */
  originalName?: string
  /** Where to unpack a file that must be on disk to be read; by default the system's temporary folder. */
  scratchFolder?: string
  /** The memory limit of a database that reads the file, in megabytes. */
  databaseMegabytes?: number
}

export interface OpenedSource extends FeatureStream {
  /** The name of its format in `FORMATS`. */
  readonly format: string
}

const HEAD_BYTES = 1 << 16

/** Opens a file of any known format, compressed or not, by content; a wrong extension only adds a note. */
export async function openSource(path: string, options: SourceOptions = {}): Promise<OpenedSource> {
  const file = options.originalName ?? basename(path)
  const wanted = options.format === undefined ? null : formatNamed(options.format)
  const limits = { ...DEFAULT_LIMITS, ...withoutUndefined(options.limits) }
  const context: Context = { ...options, limits, wanted, cleanups: [] }
  const stats = await stat(path).catch(() => null)
  if (!stats?.isFile()) throw new SourceError(`${file} cannot be read: it is not a file.`)
  try {
    const source = await fileSource(path, file)
    const stream = await openBytes(source, file, path, context)
    return whenDone(stream, () => cleanUp(context))
  } catch (error) {
    await cleanUp(context)
    throw error
  }
}

interface Context extends SourceOptions {
  limits: SourceLimits
  wanted: Format | null
  cleanups: (() => unknown)[]
}

async function cleanUp({ cleanups }: Context): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
}

function withoutUndefined(limits: Partial<SourceLimits> = {}): Partial<SourceLimits> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined))
}

function formatNamed(name: string): Format {
  const format = FORMATS.find((each) => each.name === name.toLowerCase())
  if (format) return format
  const names = FORMATS.map((each) => each.name).join(', ')
  throw new SourceError(`There is no format ${name}; there are ${names}.`)
}

/** `path` is the path of the same bytes on disk, or null if they come from a compressed file. */
async function openBytes(
  unread: ByteSource,
  name: string,
  path: string | null,
  context: Context,
): Promise<OpenedSource> {
  const [head, source] = await peek(unread, HEAD_BYTES)
  const { file } = source
  const kind = sniff(head.subarray(0, HEAD_BYTES))
  if (kind === 'zip' || kind === 'gzip') return openCompressed(kind, name, path, context, source)
  const format = chooseFormat(kind, name, file, context.wanted)
  const input: Input = {
    file,
    source,
    path: async () => path ?? (await onDisk(source, name, context)),
    stays: path !== null,
  }
  if (path !== null && !isStreamed(format)) await discard(source)
  const stream = await format.open(input, context)
  const extension = extname(name).toLowerCase()
  const expected = FORMATS.filter(({ extensions }) => extensions.includes(extension))
  if (expected.length > 0 && !expected.includes(format))
    stream.notes.push(
      `${file} is ${format.title} by its content and was read so, although its name ends in ${extension}.`,
    )
  return Object.assign(stream, { format: format.name })
}

function isStreamed(format: Format): boolean {
  return !['shapefile', 'geopackage', 'parquet'].includes(format.name)
}

async function discard(source: ByteSource): Promise<void> {
  await source.bytes[Symbol.asyncIterator]().return?.()
}

function chooseFormat(kind: Kind, name: string, file: string, wanted: Format | null): Format {
  if (kind === 'empty') throw new SourceError(`${file} is empty.`)
  if (kind === 'tar')
    throw new SourceError(`${file} is a tar archive. Publish the file itself, or a zip of it.`)
  if (/\.(dbf|shx|prj|cpg)$/i.test(name) && kind === 'binary')
    throw new SourceError(
      `${file} is a part of a shapefile. Publish the .shp beside it, or a zip of them all.`,
    )
  const found = FORMATS.find((format) => format.name === kind)
  if (wanted) {
    const isJson = (each: Format | undefined) => each?.name === 'json' || each?.name === 'geojson'
    if (found === wanted || (isJson(found) && isJson(wanted))) return wanted
    throw new SourceError(
      found
        ? `${file} is not ${wanted.title}: by its content it is ${found.title}.`
        : `${file} is not ${wanted.title}.`,
    )
  }
  if (found) return found
  const titles = FORMATS.map(({ title }) => title).join(', ')
  if (kind === 'xml') throw new SourceError(`${file} is XML, but not KML. What can be read is ${titles}.`)
  throw new SourceError(`${file} is of no known format. What can be read is ${titles}.`)
}

async function openCompressed(
  kind: 'zip' | 'gzip',
  name: string,
  path: string | null,
  context: Context,
  source: ByteSource,
): Promise<OpenedSource> {
  if (path === null) throw new SourceError(`${source.file} is compressed twice.`)
  await discard(source)
  if (kind === 'gzip') {
    const inner = name.replace(/\.(gz|gzip)$/i, '')
    return openBytes(gunzipSource(path, source.file, context.limits), inner, null, context)
  }
  const [{ ZipArchive }, { openZip }] = await Promise.all([
    import('./zip/zip.ts'),
    import('./zip/open-zip.ts'),
  ])
  const archive = await ZipArchive.open(path, source.file, context.limits)
  context.cleanups.push(() => archive.close())
  const isReadable = (each: string) =>
    FORMATS.some(({ extensions }) => extensions.includes(extname(each).toLowerCase()))
  return openZip(archive, context, isReadable, (inner, innerName) =>
    openBytes(inner, innerName, null, context),
  )
}

async function onDisk(source: ByteSource, name: string, context: Context): Promise<string> {
  const folder = await mkdtemp(join(context.scratchFolder ?? tmpdir(), 'unpacked-'))
  context.cleanups.push(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, basename(name))
  await pipeline(source.bytes, createWriteStream(path))
  return path
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
