import { FeatureSlices, PropertySlices } from '@wayleave/geodata/features'
import { type Column, type Geometry, geometryText } from '@wayleave/geodata/geometry'
import type { Manifest } from '@wayleave/geodata/snapshot'
import { type FeatureBlock, PageBytes, type TimedWork } from '@wayleave/query'
import { type Crs, isPackCrs } from '../request/crs-list.ts'
import { outputGeometry } from './output-geometry.ts'

/**
 * Rewrites features with geometries in another CRS, or with only some of their properties. The block has fewer
 * features if the time `until` comes first, but at least one.
 */
export async function rewriteFeatures(
  block: FeatureBlock,
  { columns }: Manifest,
  { crs, shown }: { crs: Crs; shown: readonly number[] | null },
  work: TimedWork,
  until = Infinity,
): Promise<FeatureBlock> {
  const isMoved = !isPackCrs(crs)
  if (!isMoved && shown === null) return block
  const { bytes, count } = block
  const slices = new FeatureSlices()
  const values = new PropertySlices(columns)
  const page = new PageBytes(bytes.length + 1024)
  const names = shown?.map((column, k) => nameBytes(columns[column]!, k === 0)) ?? []
  const rewritten = { bytes, count, starts: new Int32Array(count), ends: new Int32Array(count) }
  const step = (i: number) => {
    const start = block.starts[i]!
    const end = block.ends[i]!
    slices.locate(bytes, start, end)
    rewritten.starts[i] = page.length
    page.copy(bytes, start, slices.geometryStart)
    if (!isMoved) page.copy(bytes, slices.geometryStart, slices.geometryEnd)
    else page.text(geometryIn(crs, bytes.subarray(slices.geometryStart, slices.geometryEnd)))
    if (shown === null) page.copy(bytes, slices.geometryEnd, end)
    else {
      values.locate(bytes, slices.propertiesStart, slices.propertiesEnd)
      page.copy(OPENING)
      shown.forEach((column, k) => {
        page.copy(names[k]!)
        page.copy(bytes, values.starts[column], values.ends[column])
      })
      page.copy(CLOSING)
    }
    rewritten.ends[i] = page.length
  }
  rewritten.count = await work.each(count, step, until)
  rewritten.bytes = page.all()
  return rewritten
}

const OPENING = Buffer.from(',"properties":{')
const CLOSING = Buffer.from('}}')

function nameBytes({ name }: Column, isFirst: boolean): Buffer {
  return Buffer.from(`${isFirst ? '' : ','}${JSON.stringify(name)}:`)
}

export function geometryIn(crs: Crs, text: Buffer): string {
  const geometry = JSON.parse(text.toString('utf8')) as Geometry | null
  const moved = geometry && outputGeometry(geometry, crs)
  return moved ? geometryText(moved) : 'null'
}

/** Joins features, with `before` in front of each and `after` behind each. */
export function joinFeatures(
  { bytes, starts, ends, count }: FeatureBlock,
  before: string,
  after: string,
): Buffer {
  const page = new PageBytes(bytes.length + count * (before.length + after.length))
  const [head, tail] = [Buffer.from(before), Buffer.from(after)]
  for (let i = 0; i < count; i++) {
    page.copy(head)
    page.copy(bytes, starts[i], ends[i])
    page.copy(tail)
  }
  return page.all()
}
