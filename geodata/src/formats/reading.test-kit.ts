import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { TestContext } from 'node:test'
import { ZipFile } from 'yazl'
import {
  type Feature,
  type FeatureStream,
  type Geometry,
  isUnreadable,
  type Position,
  type UnreadableRow,
  type Value,
} from '../feature.ts'
import type { ByteSource } from './reading/byte-source.ts'

/** A temporary folder for a test, removed after it. */
export function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'formats-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export function written(t: TestContext, name: string, content: string | Uint8Array): string {
  const path = join(scratch(t), name)
  writeFileSync(path, content)
  return path
}

/** The files of a zip by their names. */
export type ZipEntries = { [name: string]: string | Buffer }

export async function zipped(t: TestContext, name: string, entries: ZipEntries): Promise<string> {
  const path = join(scratch(t), name)
  const archive = new ZipFile()
  for (const [entry, content] of Object.entries(entries))
    archive.addBuffer(Buffer.from(content as string), entry)
  archive.end()
  await pipeline(archive.outputStream, createWriteStream(path))
  return path
}

/** An in-memory source that arrives in pieces of a given size. */
export function inPieces(content: string | Uint8Array, file: string, pieceBytes = 1 << 16): ByteSource {
  const bytes = Buffer.from(content as Uint8Array)
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
  }
  return { file, bytes: pieces(), totalBytes: bytes.length }
}

export interface Read {
  stream: FeatureStream
  features: Feature[]
  unreadable: UnreadableRow[]
  /** Each feature's values by column name. */
  rows: { [name: string]: Value }[]
}

export async function readAll(opened: FeatureStream | Promise<FeatureStream>): Promise<Read> {
  const stream = await opened
  const features: Feature[] = []
  const unreadable: UnreadableRow[] = []
  for await (const batch of stream.batches()) {
    for (const row of batch) {
      if (isUnreadable(row)) unreadable.push(row)
      else features.push(row)
    }
  }
  const rows = features.map(({ values }) =>
    Object.fromEntries(stream.columns.map(({ name }, i) => [name, values[i] ?? null])),
  )
  return { stream, features, unreadable, rows }
}

export interface GdalFeature {
  id?: number | string
  properties: { [name: string]: Value }
  geometry: Feature['geometry']
}

/** The same file as read by GDAL, in the file's own coordinates. */
export function gdalFeatures(path: string, ...options: string[]): GdalFeature[] {
  // Not a GeoJSON sequence, in which GDAL rewinds the rings; any CRS, so that nothing is transformed.
  const output = execFileSync(
    'ogr2ogr',
    [
      '-f',
      'GeoJSON',
      '-lco',
      'COORDINATE_PRECISION=15',
      '/vsistdout/',
      path,
      '-a_srs',
      'EPSG:4326',
      '-preserve_fid',
      ...options,
    ],
    { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  return JSON.parse(output).features
}

/** Values that GDAL leaves out are null. */
export function assertSameRows(ours: { [name: string]: Value }[], theirs: GdalFeature[]): void {
  const names = Object.keys(ours[0] ?? {})
  const whole = theirs.map(({ properties }) =>
    Object.fromEntries(
      [...names, ...Object.keys(properties)].map((name) => [name, properties[name] ?? null]),
    ),
  )
  assert.deepEqual(ours, whole)
}

export function ogr2ogr(...args: string[]): void {
  execFileSync('ogr2ogr', args, { stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Equal except for the last digits, which GDAL does not print; reports the first difference only. */
export function assertSameGeometries(
  ours: Pick<Feature, 'geometry'>[],
  theirs: Pick<Feature, 'geometry'>[],
): void {
  assert.equal(ours.length, theirs.length, 'the number of features')
  for (const [i, { geometry }] of ours.entries()) {
    const other = theirs[i]!.geometry
    if (!areSame(ordered(geometry), ordered(other))) {
      const text = (value: Geometry | null) => JSON.stringify(value).slice(0, 300)
      assert.fail(`feature ${i + 1} differs: ${text(geometry)} and ${text(other)}`)
    }
  }
}

function areSame(one: unknown, other: unknown): boolean {
  if (typeof one === 'number' && typeof other === 'number')
    return Math.abs(one - other) <= 1e-11 * Math.max(1, Math.abs(one))
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((each, i) => areSame(each, other[i]))
  return one === other
}

/** Sorts polygons and holes, because their order is not significant. */
function ordered(geometry: Geometry | null): unknown[] {
  if (geometry === null) return ['none']
  if (geometry.type === 'GeometryCollection') return [geometry.type, ...geometry.geometries.map(ordered)]
  const key = (ring: Position[] | undefined) =>
    JSON.stringify(ring, (_, value) => (typeof value === 'number' ? value.toPrecision(7) : value)) ?? ''
  const byKey = (a: Position[] | undefined, b: Position[] | undefined) => (key(a) < key(b) ? -1 : 1)
  const polygon = ([outer, ...holes]: Position[][]) => [outer, ...holes.sort(byKey)]
  const { type, coordinates } = geometry
  if (type === 'Polygon') return [type, polygon(coordinates)]
  if (type === 'MultiPolygon') return [type, [...coordinates].sort((a, b) => byKey(a[0], b[0])).map(polygon)]
  return [type, coordinates]
}
