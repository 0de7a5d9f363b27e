import { type BuiltFile, writeAtomically } from '../../exports/write-atomically.ts'
import type { Bbox } from '../../geometry/bbox.ts'
import { readBlockChecksums } from '../../snapshot/block-checksums.ts'
import { readIndex, treeOf } from '../../snapshot/index-file.ts'
import { type Manifest, SNAPSHOT_FILES } from '../../snapshot/manifest.ts'
import { readManifest } from '../../snapshot/read-manifest.ts'
import { verifyFilesFast } from '../../snapshot/verify.ts'
import { PmtilesWriter } from '../archive/pmtiles-writer.ts'
import { type TileDescription, type TileMetadata, vectorLayer } from '../archive/tile-metadata.ts'
import { LocalPack, PackFile } from '../encode/feature-bytes.ts'
import { TileEncoder } from '../encode/tile-encoder.ts'
import { buildPointTiles } from './build-point-tiles.ts'
import { buildShapeTiles } from './build-shape-tiles.ts'
import { DEFAULT_MAX_ZOOM } from './choose-max-zoom.ts'
import { type BuiltZooms, TileBuild } from './tile-build.ts'

const WORLD: Bbox = [-180, -90, 180, 90]

export interface TileOptions extends TileDescription {
  /** The deepest zoom that may be built; the data may need less. */
  maxZoom?: number
  signal?: AbortSignal
  onProgress?: (share: number) => void
}

/** A finished archive of tiles. */
export interface BuiltTiles extends BuiltFile, BuiltZooms {}

/**
 * Builds the vector tiles of a snapshot: a PMTiles 3 archive at `outPath`, which appears complete or not at all.
 * It uses a core for a long time, so a server calls `buildTilesInChildProcess`. The files it reads are verified first;
 * a DamagedSnapshotError names a damaged one. `manifest` is a copy that the caller trusts more than the one in
 * the folder.
 */
export async function buildTiles(
  snapshotFolder: string,
  outPath: string,
  options: TileOptions,
  manifest?: Manifest,
): Promise<BuiltTiles> {
  const trusted = manifest ?? (await readManifest(snapshotFolder))
  await verifyFilesFast(snapshotFolder, trusted, [SNAPSHOT_FILES.pack])
  let zooms: BuiltZooms = { maxZoom: 0 }
  const built = await writeAtomically(outPath, async (partial) => {
    const written = await writeArchive(snapshotFolder, trusted, partial, options)
    zooms = written.zooms
    return written.sha256
  })
  return { ...built, ...zooms }
}

/** The writer of the download format: the same archive. */
export async function writePmtiles(
  folder: string,
  manifest: Manifest,
  partial: string,
  options: TileDescription & { signal?: AbortSignal },
): Promise<string | undefined> {
  return (await writeArchive(folder, manifest, partial, options)).sha256
}

async function writeArchive(folder: string, manifest: Manifest, partial: string, options: TileOptions) {
  const writer = new PmtilesWriter(partial)
  try {
    const { metadata, zooms } = await makeTiles(folder, manifest, writer, options)
    return { sha256: writer.finish(metadata, manifest.bbox ?? WORLD, zooms.maxZoom), zooms }
  } finally {
    writer.abandon()
  }
}

async function makeTiles(
  folder: string,
  manifest: Manifest,
  writer: PmtilesWriter,
  { maxZoom: zoomLimit = DEFAULT_MAX_ZOOM, signal, onProgress, ...description }: TileOptions,
): Promise<{ metadata: TileMetadata; zooms: BuiltZooms }> {
  const name = SNAPSHOT_FILES.index
  const checksums = await readBlockChecksums(folder, manifest)
  const index = await readIndex(folder, manifest.files[name]!, checksums?.get(name))
  const { offsets } = index
  const source = new PackFile(new LocalPack(folder), offsets)
  try {
    const sizeOf = (position: number) => offsets[position + 1]! - offsets[position]!
    const encoder = new TileEncoder(description.table, manifest.columns, source, sizeOf)
    const tree = treeOf(index)
    const build = new TileBuild({ tree, offsets, encoder, source, writer, zoomLimit, signal, onProgress })
    const zooms = tree.isPoints ? await buildPointTiles(build) : await buildShapeTiles(build)
    await build.finish()
    return { metadata: describe(manifest, description, zooms.maxZoom, build), zooms }
  } finally {
    source.close()
  }
}

function describe(
  manifest: Manifest,
  description: TileDescription,
  maxZoom: number,
  { contents, encoder }: TileBuild,
): TileMetadata {
  return {
    name: description.title ?? description.table,
    description: description.description ?? '',
    attribution: description.attribution ?? '',
    type: 'overlay',
    version: '1',
    generator: 'wayleave',
    vector_layers: [vectorLayer(manifest, description, maxZoom, encoder.seenProperties)],
    features: manifest.located,
    contents,
  }
}
