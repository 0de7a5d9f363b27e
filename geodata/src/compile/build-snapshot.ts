import { open, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readFully } from '../bytes/read-fully.ts'
import { GEOMETRY_TYPES } from '../feature.ts'
import { isEmptyBbox } from '../geometry/bbox.ts'
import { isOutOfMemory } from '../open-duckdb.ts'
import { PACK_SEPARATOR } from '../pack/pack.ts'
import { idName } from '../snapshot/feature-ids.ts'
import { FORMAT_VERSION, hasPointsFile, type Manifest, SNAPSHOT_FILES } from '../snapshot/manifest.ts'
import { RenamedProperties } from '../snapshot/renamed-properties.ts'
import { Assembly, type FinalColumn, type IdSource } from './assemble.ts'
import { type Checksums, checksumsHere, checksumsInThread } from './checksums/checksums.ts'
import type { FileChecksums } from './checksums/file-checksums.ts'
import { chooseColumns, chooseIds, chooseTimeColumn } from './columns/choose-columns.ts'
import { chooseNotations } from './columns/choose-notations.ts'
import { formatOf } from './columns/column-format.ts'
import type { Compiled, CompileOptions, CompilePhase } from './compile-options.ts'
import { databaseThreads, sortLimits } from './memory.ts'
import { IndexWriter } from './merge/index-writer.ts'
import { mergeRuns } from './merge/merge-runs.ts'
import { PropertyLines } from './merge/property-lines.ts'
import { RowNumbersFile } from './merge/row-numbers-file.ts'
import { samplePositions, sampleRow } from './sample.ts'
import { SchemaMismatchError } from './schema-mismatch-error.ts'
import { type CheckedFile, type SealedFile, sealFiles, sealSnapshot } from './seal-snapshot.ts'
import type { StageSummary } from './stage/stage.ts'
import { areRight } from './stage/staged-texts.ts'

export interface BuildOptions {
  options: CompileOptions
  staging: string
  summary: StageSummary
  spatial: boolean
  source: Manifest['source']
  notes: string[]
  /** Called when a phase begins, and while rows are indexed. */
  onPhase: (phase: CompilePhase, indexedRows?: number) => void
  signal: AbortSignal | undefined
}

/** With the memory limit of the database, in megabytes. */
interface LimitedBuild extends BuildOptions {
  databaseMegabytes: number
}

type ManifestHead = Omit<Manifest, 'files'>

/** Builds the files of a snapshot from staged rows; the manifest is written last. */
export async function buildSnapshot(build: BuildOptions): Promise<Compiled> {
  const { rows, texts } = build.summary
  const limits = sortLimits(build.options.memoryMegabytes, { rows, bytes: texts.bytes })
  for (const [i, databaseMegabytes] of limits.entries()) {
    // An attempt adds to the notes and to the summary.
    const attempt = {
      ...build,
      databaseMegabytes,
      ...structuredClone({ summary: build.summary, notes: build.notes }),
    }
    try {
      return await buildWithin(attempt)
    } catch (error) {
      if (i === limits.length - 1 || !isOutOfMemory(error)) throw error
    }
  }
  throw new Error('there is no limit of memory')
}

async function buildWithin(build: LimitedBuild): Promise<Compiled> {
  const { folder } = build.options
  const { head, sampled, sealed } = await writeFeatures(build)
  if (build.options.sample !== false) await writeSample(folder, sampled, head)
  build.signal?.throwIfAborted()
  const manifest = await sealSnapshot(folder, head, sealed)
  return { manifest, report: reportOf(manifest, build.summary) }
}

interface Written {
  head: ManifestHead
  /** The ranges in the pack of the features of the sample. */
  sampled: [from: number, to: number][]
  /** All large files. */
  sealed: Map<string, SealedFile>
}

/** Writes the row files, with the database, the pack and its index. */
async function writeFeatures(build: LimitedBuild): Promise<Written> {
  const { options, summary, spatial, notes, source } = build
  const { places } = summary
  const { assembly, allColumns, columns, geometryType, geometryTypes } = await openAssembly(build)
  const interrupt = () => assembly.interrupt()
  build.signal?.addEventListener('abort', interrupt)
  try {
    const misfits = await chooseNotations(assembly, allColumns, notes, source.file, {
      rows: summary.rows,
      types: options.types,
      choices: options.columns,
    })
    if (misfits.length > 0 && !options.ignoresMisfits) throw new SchemaMismatchError(source.file, misfits)
    notes.push(...misfits)
    const timeColumn = chooseTimeColumn(columns, options, source.file, notes)
    const id = await chooseIds(assembly, options, summary, allColumns, source.file, notes)
    const counts = summary.skippedForIds > 0 ? await assembly.bounds() : countsOf(summary)
    build.onPhase('sorting')
    const ids = await describeIds(assembly, columns, id)
    const { sampled, sealed, statistics } = await writeRowsAndPack(build, assembly, counts, columns, id, ids)
    build.signal?.throwIfAborted()
    const head: ManifestHead = {
      formatVersion: FORMAT_VERSION,
      ...counts,
      columns: columns.map(({ name, type, nullable }) => ({ name, type, nullable })),
      geometryType,
      geometryTypes,
      hasZ: places.hasZ,
      id: ids,
      timeColumn,
      timeExtent: timeColumn === null ? null : await assembly.timeExtent(timeColumn),
      source: { ...source, ...formatsOf(columns) },
      notes,
      tiles: options.tiles !== false && spatial,
      ...(statistics ? { statistics } : {}),
    }
    return { head, sampled, sealed }
  } finally {
    build.signal?.removeEventListener('abort', interrupt)
    assembly.close()
  }
}

/** The formats that were recognised or stated, for a schema that is made from the version. */
function formatsOf(columns: FinalColumn[]): Pick<Manifest['source'], 'formats'> {
  const formats = columns.flatMap(({ name, profile }) => {
    const format = formatOf(profile.notation)
    return format === null ? [] : [[name, format] as const]
  })
  return formats.length === 0 ? {} : { formats: Object.fromEntries(formats) }
}

export interface OpenAssembly {
  assembly: Assembly
  /** All columns of the source, and those that are published. */
  allColumns: FinalColumn[]
  columns: FinalColumn[]
  geometryType: Manifest['geometryType']
  geometryTypes: Manifest['geometryTypes']
}

/** Opens a database over the staged rows, with the columns that they will have. */
export async function openAssembly(build: Omit<LimitedBuild, 'source' | 'onPhase'>): Promise<OpenAssembly> {
  const { options, summary, spatial, notes } = build
  const { places } = summary
  const allColumns = chooseColumns(summary, spatial, notes, options.columns)
  const hidden = new Set(options.columns?.flatMap(({ source, isHidden }) => (isHidden ? [source] : [])))
  const columns = allColumns.filter(({ profile }) => !hidden.has(profile.name))
  const geometryTypes = GEOMETRY_TYPES.filter((_, i) => places.geometryTypes & (1 << i))
  const geometryType = !spatial ? null : geometryTypes.length === 1 ? geometryTypes[0]! : 'Geometry'
  const assembly = await Assembly.open({
    folder: options.folder,
    staging: build.staging,
    files: summary.files,
    columns,
    spatial,
    hasPointsFile: hasPointsFile(geometryType),
    hasGeometry: places.hasGeometry,
    hasShapes: places.hasShapes,
    memoryMegabytes: build.databaseMegabytes,
    threads: databaseThreads(options),
  })
  return { assembly, allColumns, columns, geometryType, geometryTypes }
}

/** Where ids are besides in the features themselves: see `Manifest.id`. */
async function describeIds(
  assembly: Assembly,
  columns: FinalColumn[],
  id: IdSource,
): Promise<Manifest['id']> {
  const type = id === null || id.type === 'integer' ? 'integer' : 'text'
  const chosen = columns.find((column) => column === id)
  const isRowNumber = id === null || (!chosen && type === 'integer' && (await assembly.areRowNumbers(id)))
  const own = columns.find(({ name }) => name.toLowerCase() === 'id')
  if (id && own && !isRowNumber && (own === chosen || (await assembly.areIds(id, own)))) {
    return { column: own.name, type, isRowNumber: false }
  }
  return { column: chosen?.name ?? null, type, name: idName(columns), isRowNumber }
}

/**
 * The runs already contain the pack's features, unless their columns or types turned out to be different from
 * what was assumed. In that case the database writes the properties, and the pack has to wait for it.
 */
async function writeRowsAndPack(
  build: BuildOptions,
  assembly: Assembly,
  counts: Pick<Manifest, 'rows' | 'located'>,
  columns: FinalColumn[],
  id: IdSource,
  { name, isRowNumber }: Manifest['id'],
): Promise<Omit<Written, 'head'> & Pick<Manifest, 'statistics'>> {
  const { options, summary, signal } = build
  const isReady = summary.skippedForIds === 0 && areRight(summary.texts, columns, id)
  const extraIds = name === undefined ? null : { name, source: id, isRowNumber: isRowNumber === true }
  const hasThreads = assembly.startColumnsThread(counts.rows)
  const checksums = hasThreads ? checksumsInThread() : checksumsHere
  const seal = (files: CheckedFile[]) => sealFiles(options.folder, files, checksums)
  // Beside merging the pack, the columns are compiled from the written rows. Failures are awaited below.
  const rows = assembly.writeRows(extraIds)
  const writing = rows.then(() => assembly.writePoints())
  const compiling = rows.then(() => assembly.writeColumns(counts.rows, signal))
  const sealing = [
    writing.then(() => seal([SNAPSHOT_FILES.rows, SNAPSHOT_FILES.points])),
    compiling.then(() => seal([SNAPSHOT_FILES.columns])),
  ]
  for (const work of [writing, compiling, ...sealing]) work.catch(() => {})
  try {
    let linesPath: string | null = null
    if (!isReady) {
      await writing
      linesPath = join(build.staging, 'properties')
      await assembly.writePropertyLines(linesPath, id)
    }
    // The rows first, with all processors: compiling columns takes about as long as merging the pack. If the pack
    // were merged beside writing the rows, the columns would be compiled alone at the end.
    if (hasThreads) await rows
    const { sampled, pack } = await writePack(build, counts, {
      hasIds: id !== null,
      writesRowNumbers: extraIds?.isRowNumber === true,
      linesPath,
      checksums,
    })
    const merged = await Promise.all([
      sealFiles(options.folder, [SNAPSHOT_FILES.pack], { of: () => pack }),
      seal([SNAPSHOT_FILES.ids, SNAPSHOT_FILES.index]),
      ...sealing,
    ])
    const sealed = new Map(merged.flatMap((files) => [...files]))
    const statistics = await compiling
    return { sampled, sealed, ...(statistics ? { statistics } : {}) }
  } finally {
    // Neither may still run when the caller closes the database.
    await Promise.allSettled([writing, compiling, ...sealing])
  }
}

interface PackOptions {
  hasIds: boolean
  /** Whether the numbers of rows are written to a file of their own. */
  writesRowNumbers: boolean
  /** Ids and properties that the database wrote, if those of the runs are not used. */
  linesPath: string | null
  checksums: Checksums
}

/** Merges the runs into the pack, and writes its index. */
async function writePack(
  { options: { folder }, staging, summary, signal, onPhase }: BuildOptions,
  counts: Pick<Manifest, 'rows' | 'located'>,
  { hasIds, writesRowNumbers, linesPath, checksums }: PackOptions,
): Promise<Pick<Written, 'sampled'> & { pack: Promise<FileChecksums> }> {
  const maxBytes = summary.texts.bytes + (linesPath === null ? 0 : (await stat(linesPath)).size)
  const shape = {
    ...{ rows: counts.rows, located: counts.located },
    isPoints: !summary.places.hasShapes,
    narrow: maxBytes < 2 ** 32 - 2,
  }
  const index = new IndexWriter(join(folder, SNAPSHOT_FILES.index), shape, staging)
  const lines = linesPath === null ? null : new PropertyLines(linesPath)
  const rowNumbers = writesRowNumbers
    ? new RowNumbersFile(join(folder, SNAPSHOT_FILES.ids), counts.rows)
    : null
  try {
    const path = join(folder, SNAPSHOT_FILES.pack)
    const onRows = (merged: number) => onPhase('indexing', merged)
    const merging = { ids: hasIds, lines, rowNumbers, checksums, signal, onRows }
    const { checksums: pack } = await mergeRuns(summary.runs, path, index, merging)
    index.finish()
    return { sampled: samplePositions(counts.rows).map((position) => index.rangeOf(position)), pack }
  } finally {
    lines?.close()
    rowNumbers?.close()
    index.close()
  }
}

function countsOf(summary: StageSummary): Pick<Manifest, 'rows' | 'located' | 'bbox'> {
  const { located, bbox } = summary.places
  return { rows: summary.rows, located, bbox: isEmptyBbox(bbox) ? null : bbox }
}

function reportOf(manifest: Manifest, summary: StageSummary): Compiled['report'] {
  return {
    rows: manifest.rows,
    skipped: summary.problemCount,
    problems: summary.problems,
    geometryTypes: manifest.geometryTypes,
    bbox: manifest.bbox,
    timeColumn: manifest.timeColumn,
    timeExtent: manifest.timeExtent ?? null,
    crs: manifest.source.crs,
    crsTransformation: manifest.source.crsTransformation ?? null,
    columns: manifest.columns,
    notes: manifest.notes,
  }
}

async function writeSample(folder: string, sampled: Written['sampled'], head: ManifestHead): Promise<void> {
  const handle = await open(join(folder, SNAPSHOT_FILES.pack))
  try {
    const texts: string[] = []
    const properties = new RenamedProperties(head)
    for (const [from, to] of sampled) {
      const feature = Buffer.alloc(to - PACK_SEPARATOR.length - from)
      await readFully(handle, feature, from)
      texts.push(sampleRow(feature, head, properties))
    }
    await writeFile(join(folder, SNAPSHOT_FILES.sample), `[${texts.join(',\n')}]`)
  } finally {
    await handle.close()
  }
}
