import { FeatureSlices, readPack } from '../../pack/pack-reader.ts'
import { stringValue } from '../../pack/property-slices.ts'
import { exportColumns } from '../../snapshot/feature-ids.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import { RowSlices } from '../../snapshot/row-slices.ts'
import { FlatGeometry } from '../geometry/flat-geometry.ts'
import {
  COLLECTION,
  geometryBody,
  geometryCode,
  LINE_STRING,
  MULTI_LINE_STRING,
  MULTI_POINT,
  POINT,
} from '../geometry/geometry-bytes.ts'

const QUOTE = 0x22
const POINT_SIGN = 0x2e
const SMALL_E = 0x65
const CAPITAL_E = 0x45
const CLOSING = 0x5d

/** The max length of a text in a dBase field, in bytes. */
export const MAX_TEXT = 254

export interface ColumnSurvey {
  /** The length of the longest value, in bytes of UTF-8. */
  width: number
  /** The number of values that are longer than a field can be. */
  tooLong: number
  /** The max number of digits after the decimal point. */
  decimals: number
  hasExponent: boolean
}

export interface Survey {
  columns: ColumnSurvey[]
  points: number
  multiPoints: number
  lines: number
  polygons: number
  withoutPlace: number
  /** Collections are split: each geometry family becomes a separate record. */
  collections: number
}

/** The first of two passes: a shapefile declares field widths and its geometry type at the start. */
export async function survey(folder: string, manifest: Manifest, signal?: AbortSignal): Promise<Survey> {
  const exported = exportColumns(manifest)
  const columns = exported.map(() => ({ width: 0, tooLong: 0, decimals: 0, hasExponent: false }))
  const numeric = exported.map(({ type }) => type === 'number')
  const json = exported.map(({ type }) => type === 'json')
  const result: Survey = {
    columns,
    points: 0,
    multiPoints: 0,
    lines: 0,
    polygons: 0,
    withoutPlace: 0,
    collections: 0,
  }
  const slices = new FeatureSlices()
  const values = new RowSlices(manifest)
  const geometry = new FlatGeometry()
  for await (const { bytes, count, starts, ends } of readPack(folder, manifest, signal)) {
    for (let i = 0; i < count; i++) {
      slices.locate(bytes, starts[i]!, ends[i]!)
      countShape(bytes, slices.geometryStart, geometry, result)
      values.locateRow(bytes, slices)
      for (let c = 0; c < columns.length; c++) {
        if (values.isNull(bytes, c)) continue
        const column = columns[c]!
        const start = values.starts[c]!
        const end = values.ends[c]!
        let width = end - start
        if (numeric[c]) measureNumber(bytes, start, end, column)
        else if (bytes[start] === QUOTE && !json[c]) {
          width = values.escaped[c] ? Buffer.byteLength(stringValue(bytes, start, end)) : width - 2
        }
        if (width > column.width) column.width = width
        if (width > MAX_TEXT) column.tooLong++
      }
    }
  }
  return result
}

function measureNumber(bytes: Buffer, start: number, end: number, column: ColumnSurvey): void {
  let point = -1
  let p = start
  for (; p < end; p++) {
    const byte = bytes[p]
    if (byte === POINT_SIGN) point = p
    else if (byte === SMALL_E || byte === CAPITAL_E) {
      column.hasExponent = true
      break
    }
  }
  if (point >= 0 && p - point - 1 > column.decimals) column.decimals = p - point - 1
}

function countShape(bytes: Buffer, start: number, geometry: FlatGeometry, result: Survey): void {
  const code = geometryCode(bytes, start)
  if (code === COLLECTION) {
    if (!geometry.read(bytes, start)) result.withoutPlace++
    else {
      result.collections++
      const leaves = geometry.leaves().filter((leaf) => leaf.points > 0)
      if (leaves.some(({ code }) => code === POINT || code === MULTI_POINT)) result.multiPoints++
      if (leaves.some(({ code }) => code === LINE_STRING || code === MULTI_LINE_STRING)) result.lines++
      if (leaves.some(({ code }) => code % 3 === 0)) result.polygons++
    }
  } else if (code === 0 || bytes[geometryBody(start, code) + 1] === CLOSING) result.withoutPlace++
  else if (code === POINT) result.points++
  else if (code === MULTI_POINT) result.multiPoints++
  else if (code === LINE_STRING || code === MULTI_LINE_STRING) result.lines++
  else result.polygons++
}
