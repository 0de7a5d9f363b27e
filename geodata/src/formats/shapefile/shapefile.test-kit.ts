import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { SourceError } from '../../source-error.ts'
import { ogr2ogr, readAll } from '../reading.test-kit.ts'
import { openShapefile } from './shapefile.ts'

export const read = (path: string, options = {}) => readAll(openShapefile(path, basename(path), options))
export const refusal = (path: string, message: RegExp, options = {}) =>
  assert.rejects(
    read(path, options),
    (error: Error) => error instanceof SourceError && message.test(error.message),
    String(message),
  )

const POINT = { type: 'Point', coordinates: [1, 2] }
export const feature = (properties: object, geometry: object | null = POINT) => ({
  type: 'Feature',
  properties,
  geometry,
})

/** A shapefile that GDAL writes from GeoJSON. */
export function shapefile(folder: string, features: object[], ...options: string[]): string {
  const source = join(folder, 'source.geojson')
  writeFileSync(source, JSON.stringify({ type: 'FeatureCollection', features }))
  const path = join(folder, 'made.shp')
  ogr2ogr('-f', 'ESRI Shapefile', path, source, ...options)
  return path
}

/** A dBase table of these fields (name, type, length, decimals) and rows. */
export function dbf(
  fields: [string, string, number, number][],
  rows: (string | Buffer)[],
  driver = 0,
): Buffer {
  const recordLength = 1 + fields.reduce((sum, [, , length]) => sum + length, 0)
  const header = Buffer.alloc(32 + fields.length * 32 + 1)
  header[0] = 3
  header.writeUInt32LE(rows.length, 4)
  header.writeUInt16LE(header.length, 8)
  header.writeUInt16LE(recordLength, 10)
  header[29] = driver
  fields.forEach(([name, type, length, decimals], i) => {
    header.write(name, 32 + i * 32, 'latin1')
    header.write(type, 32 + i * 32 + 11, 'latin1')
    header[32 + i * 32 + 16] = length
    header[32 + i * 32 + 17] = decimals
  })
  header[header.length - 1] = 0x0d
  const records = rows.map((row) =>
    Buffer.concat([Buffer.from(row as string, 'latin1'), Buffer.alloc(recordLength, ' ')]).subarray(
      0,
      recordLength,
    ),
  )
  return Buffer.concat([header, ...records, Buffer.from([0x1a])])
}
