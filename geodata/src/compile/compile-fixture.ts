import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { writeColumns } from '../columns/write-columns.ts'
import type { Geometry } from '../feature.ts'
import { type Manifest, SNAPSHOT_FILES } from '../snapshot/manifest.ts'
import { compileSnapshot } from './compile.ts'
import type { Compiled, CompileOptions } from './compile-options.ts'
import { sealSnapshot } from './seal-snapshot.ts'

/** For tests: a temporary folder that is removed at the end of the test file. */
export const scratch = await mkdtemp(join(tmpdir(), 'compile-test-'))
after(() => rm(scratch, { recursive: true, force: true }))
let serial = 0

export interface GeojsonFeature {
  id: string | number
  geometry: Geometry | null
  properties: { [name: string]: unknown }
}

/** Compiles the text of a GeoJSON file and reads its features back. */
export async function compileText(
  text: string,
  options: Partial<CompileOptions> = {},
): Promise<Compiled & { folder: string; features: GeojsonFeature[] }> {
  const path = join(scratch, `${++serial}.geojson`)
  await writeFile(path, text)
  const folder = join(scratch, String(serial))
  const compiled = await compileSnapshot({ path, folder, threads: 1, ...options })
  const features = JSON.parse(`[${await readFile(join(folder, 'features.pack'), 'utf8')}]`)
  return { ...compiled, folder, features }
}

/** A copy of a snapshot with columns as those of millions of rows are: in segments, with their posting lists. */
export async function withStoredLists(folder: string, { files: _, ...head }: Manifest): Promise<string> {
  const copy = join(scratch, `${++serial}`)
  await cp(folder, copy, { recursive: true })
  const instance = await DuckDBInstance.create(':memory:')
  try {
    const source = { instance, from: `read_parquet('${join(copy, SNAPSHOT_FILES.rows)}')`, rows: head.rows }
    const columns = head.columns.map((column) => ({ ...column, isWide: false }))
    const options = { segmentRows: 4096, maxListed: -1 }
    await writeColumns(join(copy, SNAPSHOT_FILES.columns), source, columns, undefined, options)
  } finally {
    instance.closeSync()
  }
  await sealSnapshot(copy, head, new Map())
  return copy
}

export function collection(features: unknown[]): string {
  return JSON.stringify({ type: 'FeatureCollection', features })
}

export function feature(properties: unknown, geometry: unknown = null, id?: unknown): unknown {
  return { type: 'Feature', id, properties, geometry }
}

export async function query(sql: string): Promise<unknown[][]> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    await connection.run(`SET TimeZone = 'UTC'`)
    return (await connection.runAndReadAll(sql)).getRowsJson()
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}
