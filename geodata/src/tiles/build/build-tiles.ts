import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { type BuiltFile, writeAtomically } from '../../exports/write-atomically.ts'
import type { Bbox } from '../../geometry/bbox.ts'
import { type Manifest, SNAPSHOT_FILES } from '../../snapshot/manifest.ts'
import { readManifest } from '../../snapshot/read-manifest.ts'
import { verifyFilesFast } from '../../snapshot/verify.ts'
import type { PartitionPlace } from '../archive/partition-file.ts'
import { type TileDescription, type TileMetadata, vectorLayer } from '../archive/tile-metadata.ts'
import { type FinishedPartitions, summarizePartitions, writeArchive } from '../archive/write-archive.ts'
import { buildPartitions, type PartitionsOptions } from './build-partitions.ts'
import { DEFAULT_MAX_ZOOM } from './choose-max-zoom.ts'
import { PartitionStore } from './partition-store.ts'
import { type BuiltZooms, type PlanOptions, planTiles, type TilePlan } from './tile-plan.ts'
import { openTileSource, type TileSourceOptions } from './tile-source.ts'

const WORLD: Bbox = [-180, -90, 180, 90]
/** Raise it if the same snapshot gets other tiles: partitions of an earlier program are then built again. */
const GENERATION = 1

export interface TileOptions extends TileDescription, PartitionsOptions {
  /** The deepest zoom that may be built; the data may need less. */
  maxZoom?: number
  /** The max bytes in the pack of the features that a thread holds in memory. */
  partitionBytes?: number
}

/** A finished archive of tiles. */
export interface BuiltTiles extends BuiltFile, BuiltZooms {}

/**
 * Builds the vector tiles of a snapshot: a PMTiles 3 archive at `outPath`, which appears complete or not at all. What
 * is finished when the build is aborted or its process is killed is kept beside it, for the next build of the same.
 *
 * It uses all cores for a long time, so a server calls `buildTilesInChildProcess`. The files it reads are verified
 * first; a DamagedSnapshotError names a damaged one. `manifest` is a copy that the caller trusts more than the one in
 * the folder.
 */
export async function buildTiles(
  snapshotFolder: string,
  outPath: string,
  options: TileOptions,
  manifest?: Manifest,
): Promise<BuiltTiles> {
  const trusted = manifest ?? (await readManifest(snapshotFolder))
  const store = PartitionStore.beside(outPath, keyOf(trusted, options))
  let zooms: BuiltZooms = { maxZoom: 0 }
  await verifyFilesFast(snapshotFolder, trusted, [SNAPSHOT_FILES.pack, SNAPSHOT_FILES.index])
  try {
    const built = await writeAtomically(outPath, async (partial) => {
      const written = await writeTiles(snapshotFolder, trusted, partial, store, options)
      zooms = written.zooms
      return written.sha256
    })
    await store.remove()
    return { ...built, ...zooms }
  } catch (error) {
    if (!options.signal?.aborted) await store.remove()
    throw error
  }
}

/** Equal for builds that make the same partitions. */
export function keyOf({ files, columns }: Manifest, { table, maxZoom, partitionBytes }: TileOptions): string {
  const read = [SNAPSHOT_FILES.pack, SNAPSHOT_FILES.index].map((name) => files[name]?.sha256)
  const inputs = [GENERATION, read, columns, table, maxZoom, partitionBytes]
  return createHash('sha256').update(JSON.stringify(inputs)).digest('hex')
}

async function writeTiles(
  folder: string,
  manifest: Manifest,
  partial: string,
  store: PartitionStore,
  { maxZoom: zoomLimit = DEFAULT_MAX_ZOOM, partitionBytes, ...options }: TileOptions,
): Promise<{ sha256: string | undefined; zooms: BuiltZooms }> {
  const source = { folder, table: options.table, columns: manifest.columns }
  const plan = await store.open(() => planHere(source, { zoomLimit, partitionBytes }))
  const numbers = [...plan.partitions.keys()]
  await buildPartitions({ plan, numbers, store, source }, options)
  const places = numbers.map((number) => {
    const path = store.pathOf(number)
    return { path, from: 0, to: statSync(path).size }
  })
  return { sha256: await joinPartitions(partial, manifest, options, plan.zooms, places), zooms: plan.zooms }
}

function planHere(sourceOptions: TileSourceOptions, options: PlanOptions): TilePlan {
  const source = openTileSource(sourceOptions)
  try {
    return planTiles(source, options)
  } finally {
    source.close()
  }
}

/** Writes the archive of all partitions of a plan, and returns its checksum. */
export async function joinPartitions(
  path: string,
  manifest: Manifest,
  description: TileDescription,
  { maxZoom }: BuiltZooms,
  places: readonly PartitionPlace[],
): Promise<string | undefined> {
  const partitions = summarizePartitions(places)
  const metadata = describe(manifest, description, maxZoom, partitions)
  return writeArchive(path, partitions, { metadata, bounds: manifest.bbox ?? WORLD, maxZoom })
}

function describe(
  manifest: Manifest,
  description: TileDescription,
  maxZoom: number,
  { contents, seen }: FinishedPartitions,
): TileMetadata {
  return {
    name: description.title ?? description.table,
    description: description.description ?? '',
    attribution: description.attribution ?? '',
    type: 'overlay',
    version: '1',
    generator: 'wayleave',
    vector_layers: [vectorLayer(manifest, description, maxZoom, seen)],
    features: manifest.located,
    contents,
  }
}
