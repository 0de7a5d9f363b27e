import { FeatureSlices } from '@wayleave/geodata/exports/pack-reader.ts'
import { PropertySlices } from '@wayleave/geodata/exports/property-slices.ts'
import type { Column, Geometry } from '@wayleave/geodata/feature.ts'
import { geometryText } from '@wayleave/geodata/geometry/geometry-text.ts'
import type { Manifest } from '@wayleave/geodata/snapshot/manifest.ts'
import { CRS84, type Crs } from './crs-list.ts'
import { outputGeometry } from './output-geometry.ts'
import type { FeatureBlock } from './read-selected.ts'
import { takeTurns } from './take-turns.ts'

/** The features with geometries in another CRS, or with some of their properties alone. */
export async function rewriteFeatures(
  block: FeatureBlock,
  { columns }: Manifest,
  crs: Crs,
  shown: readonly number[] | null,
): Promise<FeatureBlock> {
  if (crs === CRS84 && shown === null) return block
  const { bytes, count } = block
  const slices = new FeatureSlices()
  const values = new PropertySlices(columns)
  const pieces: Buffer[] = []
  const rewritten = { bytes, count, starts: new Int32Array(count), ends: new Int32Array(count) }
  let length = 0
  const push = (piece: Buffer) => {
    pieces.push(piece)
    length += piece.length
  }
  await takeTurns(count, (i) => {
    const start = block.starts[i]!
    const end = block.ends[i]!
    slices.locate(bytes, start, end)
    rewritten.starts[i] = length
    push(bytes.subarray(start, slices.geometryStart))
    const geometry = bytes.subarray(slices.geometryStart, slices.geometryEnd)
    push(crs === CRS84 ? geometry : Buffer.from(geometryIn(crs, geometry)))
    if (shown === null) push(bytes.subarray(slices.geometryEnd, end))
    else {
      values.locate(bytes, slices.propertiesStart, slices.propertiesEnd)
      push(Buffer.from(',"properties":{'))
      shown.forEach((column, k) => {
        push(nameBytes(columns[column]!, k === 0))
        push(bytes.subarray(values.starts[column], values.ends[column]))
      })
      push(CLOSING)
    }
    rewritten.ends[i] = length
  })
  rewritten.bytes = Buffer.concat(pieces, length)
  return rewritten
}

const CLOSING = Buffer.from('}}')

function nameBytes({ name }: Column, isFirst: boolean): Buffer {
  return Buffer.from(`${isFirst ? '' : ','}${JSON.stringify(name)}:`)
}

export function geometryIn(crs: Crs, text: Buffer): string {
  const geometry = JSON.parse(text.toString('utf8')) as Geometry | null
  const moved = geometry && outputGeometry(geometry, crs)
  return moved ? geometryText(moved) : 'null'
}

/** Features one after another, with something before each and between them. */
export function joinFeatures(
  { bytes, starts, ends, count }: FeatureBlock,
  before: string,
  after: string,
): Buffer {
  const pieces: Buffer[] = []
  for (let i = 0; i < count; i++) {
    if (before !== '') pieces.push(Buffer.from(before))
    pieces.push(bytes.subarray(starts[i], ends[i]), Buffer.from(after))
  }
  return Buffer.concat(pieces)
}
