import { open, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isEmptyBbox } from '../geometry/bbox.ts'
import { SourceError } from '../source-error.ts'
import { Assembly, type FinalColumn, type IdSource } from './assemble.ts'
import { checksum } from './checksum.ts'
import { columnNames } from './column-names.ts'
import type { Compiled, CompileOptions, CompilePhase } from './compile.ts'
import { buildIdTable } from './id-table.ts'
import { layIndex, writeIndex } from './index-file.ts'
import { buildTree } from './index-tree.ts'
import { InvalidSourceError } from './invalid-source-error.ts'
import { DEFAULT_MEMORY_MEGABYTES, DEFAULT_THREADS } from './limits.ts'
import { type Manifest, SNAPSHOT_FILES } from './manifest.ts'
import { samplePositions, sampleRow } from './sample.ts'
import { type PackScan, scanPack } from './scan-pack.ts'
import { GEOMETRY_TYPES, MAX_LISTED_PROBLEMS, type StageSummary } from './stage.ts'
import { areIntegers, columnType } from './value-kinds.ts'

export interface BuildOptions {
  options: CompileOptions
  staging: string
  summary: StageSummary
  spatial: boolean
  source: Manifest['source']
  notes: string[]
  onPhase: (phase: CompilePhase) => void
  signal: AbortSignal | undefined
}

/** From staged rows to the files of a snapshot. */
export async function buildSnapshot(build: BuildOptions): Promise<Compiled> {
  const { options, summary, spatial, notes } = build
  const { folder } = options
  const columns = finalColumns(summary, spatial, notes)
  const assembly = await Assembly.open({
    folder,
    temporaryFolder: join(build.staging, 'spill'),
    files: summary.files,
    columns,
    spatial,
    hasGeometry: summary.hasGeometry,
    hasShapes: summary.hasShapes,
    memoryMegabytes: options.memoryMegabytes ?? DEFAULT_MEMORY_MEGABYTES,
    threads: options.threads ?? DEFAULT_THREADS,
  })
  const interrupt = () => assembly.interrupt()
  build.signal?.addEventListener('abort', interrupt)
  try {
    const id = await chooseIds(assembly, build, columns)
    build.onPhase('sorting')
    await assembly.writeRows()
    await assembly.writePack(id)
    build.signal?.throwIfAborted()
    build.onPhase('indexing')
    const { rows, located, bbox } = summary.skippedForIds > 0 ? await assembly.bounds() : countsOf(summary)
    const scan = await scanPack(join(folder, SNAPSHOT_FILES.pack), rows)
    const isPoints = !summary.hasShapes
    const index = layIndex({ rows, located, isPoints, narrow: scan.bytes < 2 ** 32 - 2 })
    await assembly.readLeaves(index.leaves, isPoints)
    buildTree(index.leaves, isPoints, index.nodes)
    index.offsets.set(scan.offsets)
    buildIdTable(scan.idHashes, index.idStarts, index.idPositions)
    await writeIndex(join(folder, SNAPSHOT_FILES.index), index)
    const geometryTypes = GEOMETRY_TYPES.filter((_, i) => summary.geometryTypes & (1 << i))
    const geometryType = !spatial ? null : geometryTypes.length === 1 ? geometryTypes[0]! : 'Geometry'
    await writeSample(folder, scan, rows, spatial, geometryType !== 'Point')
    const manifest: Manifest = {
      formatVersion: 1,
      rows,
      located,
      columns: columns.map(({ name, type, nullable }) => ({ name, type, nullable })),
      geometryType,
      geometryTypes,
      hasZ: summary.hasZ,
      bbox,
      id: {
        column: idColumnName(columns, id),
        type: id === null || id.type === 'integer' ? 'integer' : 'text',
      },
      timeColumn: timeColumn(columns, options.timeColumn, build.source.file),
      source: build.source,
      notes,
      files: await fileChecksums(folder, spatial, scan),
    }
    build.signal?.throwIfAborted()
    await writeFile(join(folder, SNAPSHOT_FILES.manifest), `${JSON.stringify(manifest, null, 2)}\n`)
    return { manifest, report: reportOf(manifest, summary) }
  } finally {
    build.signal?.removeEventListener('abort', interrupt)
    assembly.close()
  }
}

function reportOf(manifest: Manifest, summary: StageSummary): Compiled['report'] {
  return {
    rows: manifest.rows,
    skipped: summary.problemCount,
    problems: summary.problems,
    geometryTypes: manifest.geometryTypes,
    bbox: manifest.bbox,
    crs: manifest.source.crs,
    columns: manifest.columns,
    notes: manifest.notes,
  }
}

function countsOf(summary: StageSummary): Pick<Manifest, 'rows' | 'located' | 'bbox'> {
  return {
    rows: summary.rows,
    located: summary.located,
    bbox: isEmptyBbox(summary.bbox) ? null : summary.bbox,
  }
}

function finalColumns(summary: StageSummary, spatial: boolean, notes: string[]): FinalColumn[] {
  const names = columnNames(
    summary.columns.map((profile) => profile.name),
    spatial,
    notes,
  )
  return summary.columns.map((profile, i) => ({
    name: names[i]!,
    type: columnType(profile.kinds, profile.declared),
    nullable: profile.present < summary.rows,
    profile,
  }))
}

async function chooseIds(assembly: Assembly, build: BuildOptions, columns: FinalColumn[]): Promise<IdSource> {
  const { summary, notes, options } = build
  if (options.idColumn !== undefined) {
    const column = findColumn(columns, options.idColumn, build.source.file)
    await checkIds(assembly, build, column)
    return column
  }
  const profile = summary.id
  if (summary.rows === 0 || profile.present < summary.rows) return null
  if (await assembly.sourceIdsRepeat(profile)) {
    notes.push('Ids repeat in the source, so features are numbered by their rows.')
    return null
  }
  return { profile, type: areIntegers(profile.kinds) ? 'integer' : 'text' }
}

async function checkIds(assembly: Assembly, build: BuildOptions, column: FinalColumn): Promise<void> {
  const { summary, options } = build
  if (column.type === 'json')
    throw new SourceError(
      `${build.source.file}: column ${column.name} holds nested values and cannot be the id.`,
    )
  const bad = await assembly.badIds(column, MAX_LISTED_PROBLEMS)
  if (bad.count === 0) return
  const problems = bad.rows.map(({ row, id }) => ({
    row,
    message: id === null ? `the id column ${column.name} is empty` : `the id ${JSON.stringify(id)} repeats`,
  }))
  const all = [...summary.problems, ...problems].sort((a, b) => a.row - b.row).slice(0, MAX_LISTED_PROBLEMS)
  summary.problemCount += bad.count
  if (!options.skipInvalid) throw new InvalidSourceError(build.source.file, all, summary.problemCount)
  summary.problems = all
  summary.skippedForIds = bad.count
  await assembly.excludeBadIds(column)
}

function findColumn(columns: FinalColumn[], name: string, file: string): FinalColumn {
  const found =
    columns.find((column) => column.name === name) ?? columns.find((column) => column.profile.name === name)
  if (found) return found
  const names = columns.slice(0, 20).map((column) => column.name)
  throw new SourceError(
    `${file} has no column ${JSON.stringify(name)}. ${names.length > 0 ? `It has ${names.join(', ')}${columns.length > 20 ? ' and more' : ''}.` : 'It has none.'}`,
  )
}

function idColumnName(columns: FinalColumn[], id: IdSource): string | null {
  return columns.find((column) => column === id)?.name ?? null
}

function timeColumn(columns: FinalColumn[], wanted: string | undefined, file: string): string | null {
  const isTime = (column: FinalColumn) => column.type === 'date' || column.type === 'timestamp'
  if (wanted === undefined) return columns.find(isTime)?.name ?? null
  const column = findColumn(columns, wanted, file)
  if (!isTime(column))
    throw new SourceError(
      `${file}: column ${column.name} holds ${column.type}, neither dates nor timestamps.`,
    )
  return column.name
}

async function writeSample(
  folder: string,
  scan: PackScan,
  rows: number,
  spatial: boolean,
  withGeometry: boolean,
): Promise<void> {
  const handle = await open(join(folder, SNAPSHOT_FILES.pack))
  try {
    const texts: string[] = []
    for (const position of samplePositions(rows)) {
      const from = scan.offsets[position]!
      const feature = Buffer.alloc(scan.offsets[position + 1]! - 2 - from)
      await handle.read(feature, 0, feature.length, from)
      texts.push(sampleRow(feature, spatial, withGeometry))
    }
    await writeFile(join(folder, SNAPSHOT_FILES.sample), `[${texts.join(',\n')}]`)
  } finally {
    await handle.close()
  }
}

async function fileChecksums(folder: string, spatial: boolean, scan: PackScan): Promise<Manifest['files']> {
  const files: Manifest['files'] = {}
  const { rows, points, pack, index, sample } = SNAPSHOT_FILES
  for (const name of [rows, ...(spatial ? [points] : []), pack, index, sample]) {
    files[name] =
      name === pack
        ? { bytes: scan.bytes, sha256: scan.sha256 }
        : { bytes: (await stat(join(folder, name))).size, sha256: await checksum(join(folder, name)) }
  }
  return files
}
