import {
  CSV_LINE_END,
  csvCell,
  FeatureSlices,
  PropertySlices,
  rowNames,
  stringValue,
  withoutFormula,
} from '@wayleave/geodata/features'
import { type Geometry, pointOnSurface, writeWkt } from '@wayleave/geodata/geometry'
import { idColumn, type Manifest } from '@wayleave/geodata/snapshot'
import { type FeatureBlock, PageBytes } from '@wayleave/query'
import type { Crs } from '../request/crs-list.ts'
import { outputGeometry } from './output-geometry.ts'
import type { WritePage } from './page-content.ts'

const QUOTE = 0x22

/** Writes the rows of one selection as CSV. */
export interface CsvWriter {
  /** The line of column names. */
  head: string
  writeRow(page: PageBytes, block: FeatureBlock, i: number): void
}

export interface CsvOptions {
  manifest: Manifest
  crs: Crs
  /** The indexes of the columns; null for all. */
  shown: readonly number[] | null
  /** Put an apostrophe before texts that spreadsheets would execute as formulas. */
  escapeFormulas: boolean
}

/**
 * Writes rows like those of the CSV download: the id if it is a column, the columns, a point's coordinates,
 * and other geometries as WKT.
 */
export const writeCsv: WritePage = async ({ manifest, query, block, escapeFormulas, work, until }) => {
  const { crs, shown } = query
  const writer = csvWriter({ manifest, crs, shown, escapeFormulas })
  const page = new PageBytes(block.bytes.length + 1024)
  page.text(writer.head)
  const returned = await work.each(block.count, (i) => writer.writeRow(page, block, i), until)
  return { body: page.all(), returned }
}

export function csvWriter({ manifest, crs, shown, escapeFormulas }: CsvOptions): CsvWriter {
  const { columns, geometryType } = manifest
  const places = shown ?? columns.map((_, i) => i)
  const isSpatial = geometryType !== null
  const hasShapes = isSpatial && geometryType !== 'Point'
  const id = idColumn(manifest)
  const columnNames = rowNames(columns, isSpatial, coordinateNames(crs))
  const names = [...(id === null ? [] : [id.name]), ...places.map((column) => columnNames[column]!)]
  const heads = [...names, ...(isSpatial ? coordinateNames(crs) : []), ...(hasShapes ? ['geometry'] : [])]
  const safeText = (text: string) => (escapeFormulas ? withoutFormula(text) : text)
  const slices = new FeatureSlices()
  const values = new PropertySlices(columns)
  const writeRow = (page: PageBytes, block: FeatureBlock, i: number) => {
    const { bytes } = block
    slices.locate(bytes, block.starts[i]!, block.ends[i]!)
    values.locate(bytes, slices.propertiesStart, slices.propertiesEnd)
    const cells = places.map((column) => {
      if (values.isNull(bytes, column)) return ''
      const start = values.starts[column]!
      const end = values.ends[column]!
      const isText = bytes[start] === QUOTE && columns[column]!.type !== 'json'
      return csvCell(
        isText ? safeText(stringValue(bytes, start, end)) : bytes.toString('utf8', start, end),
        isText,
      )
    })
    if (id !== null) {
      const isText = bytes[slices.idStart] === QUOTE
      const value = isText
        ? safeText(stringValue(bytes, slices.idStart, slices.idEnd))
        : bytes.toString('utf8', slices.idStart, slices.idEnd)
      cells.unshift(csvCell(value, isText))
    }
    if (isSpatial) {
      const text = bytes.toString('latin1', slices.geometryStart, slices.geometryEnd)
      cells.push(...placeCells(JSON.parse(text) as Geometry | null, crs, hasShapes))
    }
    page.text(cells.join(',') + CSV_LINE_END)
  }
  return { head: heads.map((name) => csvCell(safeText(name))).join(',') + CSV_LINE_END, writeRow }
}

function coordinateNames({ fromWgs84 }: Crs): string[] {
  return fromWgs84 === null ? ['longitude', 'latitude'] : ['easting', 'northing']
}

function placeCells(geometry: Geometry | null, crs: Crs, hasShapes: boolean): string[] {
  const point = geometry && (geometry.type === 'Point' ? geometry.coordinates : pointOnSurface(geometry))
  const there = point && point.length > 0 ? (crs.fromWgs84?.(point) ?? point) : null
  const isPlace = there !== null && Number.isFinite(there[0]) && Number.isFinite(there[1])
  const cells = isPlace ? [String(there[0]), String(there[1])] : ['', '']
  if (!hasShapes) return cells
  const moved = geometry && outputGeometry(geometry, crs)
  return [...cells, moved ? csvCell(writeWkt(moved)) : '']
}
