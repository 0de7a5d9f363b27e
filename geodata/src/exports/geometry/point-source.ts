import { join } from 'node:path'
import type { DuckDBResult } from '@duckdb/node-api'
import { copyBytes } from '../../bytes/copy-bytes.ts'
import { ExportError } from '../../export-error.ts'
import type { DuckDb } from '../../open-duckdb.ts'
import { parquetSql } from '../../quote-sql.ts'
import { hasPointsFile, type Manifest, SNAPSHOT_FILES } from '../../snapshot/manifest.ts'
import { duckDbOptions, type ExportOptions } from '../export-options.ts'

const COMMA = 0x2c
const CLOSING = 0x5d
const NULL = 0x6e
/** The length of `{"type":"Point","coordinates":[`. */
const POINT_COORDINATES = 31

/**
 * The longitude and latitude of csv and json rows. For a dataset of points they are copied from the pack; for
 * other geometries they were computed at publishing and are read from points.parquet in parallel with the
 * pack, since both are in snapshot order.
 */
export abstract class PointSource {
  /** Returns null for a table without geometry. */
  static async open(folder: string, manifest: Manifest, options: ExportOptions): Promise<PointSource | null> {
    if (manifest.geometryType === null) return null
    if (!hasPointsFile(manifest.geometryType)) return new OwnPoints()
    return PointsFile.read(join(folder, SNAPSHOT_FILES.points), options)
  }

  /** Loads the points of the next `count` features. */
  abstract load(count: number): Promise<void>

  /** Writes longitude, `between`, latitude of feature `i` of the block, or `missing` for each. */
  abstract put(
    bytes: Buffer,
    geometryStart: number,
    i: number,
    out: Buffer,
    at: number,
    between: Buffer,
    missing: Buffer,
  ): number

  abstract close(): void
}

class OwnPoints extends PointSource {
  override async load(): Promise<void> {}

  override put(
    bytes: Buffer,
    geometryStart: number,
    _i: number,
    out: Buffer,
    at: number,
    between: Buffer,
    missing: Buffer,
  ): number {
    let p = geometryStart + POINT_COORDINATES
    if (bytes[geometryStart] === NULL || bytes[p] === CLOSING) return putMissing(out, at, between, missing)
    while (bytes[p] !== COMMA) out[at++] = bytes[p++]!
    at = copyBytes(between, 0, between.length, out, at)
    for (p++; bytes[p] !== COMMA && bytes[p] !== CLOSING; p++) out[at++] = bytes[p]!
    return at
  }

  override close(): void {}
}

class PointsFile extends PointSource {
  readonly #database: DuckDb
  #result: DuckDBResult
  #longitudes: (number | null)[] = []
  #latitudes: (number | null)[] = []

  static async read(path: string, options: ExportOptions): Promise<PointSource> {
    const { openDuckDb } = await import('../../open-duckdb.ts')
    const database = await openDuckDb({ ...duckDbOptions(options), files: [path] })
    const sql = `SELECT longitude, latitude FROM ${parquetSql(path)}`
    return new PointsFile(database, await database.connection.stream(sql))
  }

  constructor(database: DuckDb, result: DuckDBResult) {
    super()
    this.#database = database
    this.#result = result
  }

  override async load(count: number): Promise<void> {
    this.#longitudes = this.#longitudes.slice(this.#used)
    this.#latitudes = this.#latitudes.slice(this.#used)
    while (this.#longitudes.length < count) {
      const chunk = await this.#result.fetchChunk()
      if (!chunk || chunk.rowCount === 0) {
        throw new ExportError('snapshot-damaged', 'points.parquet has fewer rows than features.pack.')
      }
      for (const value of chunk.getColumnValues(0)) this.#longitudes.push(value as number | null)
      for (const value of chunk.getColumnValues(1)) this.#latitudes.push(value as number | null)
    }
    this.#used = count
  }

  #used = 0

  override put(
    _bytes: Buffer,
    _geometryStart: number,
    i: number,
    out: Buffer,
    at: number,
    between: Buffer,
    missing: Buffer,
  ): number {
    const longitude = this.#longitudes[i]
    const latitude = this.#latitudes[i]
    if (longitude == null || latitude == null) return putMissing(out, at, between, missing)
    at += out.write(String(longitude), at, 'latin1')
    at = copyBytes(between, 0, between.length, out, at)
    return at + out.write(String(latitude), at, 'latin1')
  }

  override close(): void {
    this.#database.close()
  }
}

function putMissing(out: Buffer, at: number, between: Buffer, missing: Buffer): number {
  at = copyBytes(missing, 0, missing.length, out, at)
  at = copyBytes(between, 0, between.length, out, at)
  return copyBytes(missing, 0, missing.length, out, at)
}
