import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { VectorTile } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { PMTiles, type Source, tileIdToZxy } from 'pmtiles'
import { PmtilesArchive } from './pmtiles-archive.ts'
import type { TileMetadata } from './tile-metadata.ts'

/** A feature of a tile as an independent library decodes it. */
export interface DecodedFeature {
  z: number
  x: number
  y: number
  id: number | undefined
  /** 1 is a point, 2 a line, 3 a polygon. */
  type: number
  properties: Record<string, number | string | boolean>
  /** Lists of positions in tile units. */
  lists: [number, number][][]
}

export interface DecodedArchive {
  maxZoom: number
  metadata: TileMetadata
  tiles: { z: number; x: number; y: number; bytes: number }[]
  features: DecodedFeature[]
}

/** For tests: all tiles of an archive, found by the PMTiles reader and decoded by Mapbox's library. */
export async function decodeArchive(path: string): Promise<DecodedArchive> {
  const file = await readFile(path)
  const source: Source = {
    getKey: () => path,
    getBytes: async (offset, length) => ({
      data: new Uint8Array(file.subarray(offset, offset + length)).buffer,
    }),
  }
  const archive = new PMTiles(source)
  const header = await archive.getHeader()
  const decoded: DecodedArchive = {
    maxZoom: header.maxZoom,
    metadata: (await archive.getMetadata()) as TileMetadata,
    tiles: [],
    features: [],
  }
  const ours = await PmtilesArchive.open(path)
  const { ids, runs, count } = ours.entries
  await ours.close()
  for (let i = 0; i < count; i++) {
    for (let id = ids[i]!; id < ids[i]! + runs[i]!; id++) {
      const [z, x, y] = tileIdToZxy(id)
      const tile = (await archive.getZxy(z, x, y))!
      decoded.tiles.push({ z, x, y, bytes: tile.data.byteLength })
      decoded.features.push(...decodeTile(new Uint8Array(tile.data), z, x, y))
    }
  }
  return decoded
}

export function decodeTile(bytes: Uint8Array, z: number, x: number, y: number): DecodedFeature[] {
  const plain = bytes[0] === 0x1f ? gunzipSync(bytes) : bytes
  const features: DecodedFeature[] = []
  for (const layer of Object.values(new VectorTile(new PbfReader(plain)).layers)) {
    for (let i = 0; i < layer.length; i++) {
      const feature = layer.feature(i)
      const { id, type, properties } = feature
      const lists = feature
        .loadGeometry()
        .map((list) => list.map((point): [number, number] => [point.x, point.y]))
      features.push({ z, x, y, id, type, properties: { ...properties }, lists })
    }
  }
  return features
}
