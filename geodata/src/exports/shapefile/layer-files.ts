import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Column } from '../../feature.ts'
import type { FlatGeometry } from '../geometry/flat-geometry.ts'
import { DbfWriter } from './dbf-writer.ts'
import type { Field } from './fields.ts'
import type { Layer } from './layers.ts'
import { type Family, ShpWriter } from './shp-writer.ts'

const WGS84 =
  'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],' +
  'PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'

export interface LayerOptions {
  /** Where the files are written. */
  folder: string
  fields: readonly Field[]
  columns: readonly Column[]
  modified: Date
  /** Whether the layer has shapes. */
  isSpatial: boolean
  hasZ: boolean
  maxFileBytes: number
}

/** One shapefile: a part of a layer. */
interface Part {
  shp: ShpWriter | null
  dbf: DbfWriter
}

/** The files of one layer. When a file would become too large, the layer goes on in another part. */
export class LayerFiles {
  readonly family: Family
  readonly #layer: Layer
  readonly #options: LayerOptions
  readonly #parts: Part[]

  constructor(layer: Layer, options: LayerOptions) {
    this.family = layer.family
    this.#layer = layer
    this.#options = options
    this.#parts = [this.#begin(1)]
  }

  /** The names of the shapefiles, without extensions. */
  get names(): string[] {
    const { name } = this.#layer
    return this.#parts.length === 1 ? [name] : this.#parts.map((_, i) => `${name}_${i + 1}`)
  }

  get ringsLeftOut(): number {
    return this.#parts.reduce((sum, { shp }) => sum + (shp?.ringsLeftOut ?? 0), 0)
  }

  /** Adds a record; `putValues` writes its attributes. Returns false if it alone is too large for a file. */
  add(shape: FlatGeometry | null, putValues: (dbf: DbfWriter) => void): boolean {
    let part = this.#parts.at(-1)!
    if (!this.#hasRoom(part, shape)) {
      close(part)
      part = this.#begin(this.#parts.length + 1)
      this.#parts.push(part)
      if (!this.#hasRoom(part, shape)) return false
    }
    if (shape) part.shp?.add(shape)
    else part.shp?.addNull()
    putValues(part.dbf)
    return true
  }

  /** Ends the files, and returns their names. */
  async finish(): Promise<string[]> {
    close(this.#parts.at(-1)!)
    const { folder, isSpatial } = this.#options
    const [first, ...others] = this.names
    if (others.length > 0)
      for (const extension of isSpatial ? ['shp', 'shx', 'dbf'] : ['dbf'])
        await rename(join(folder, `${this.#layer.name}.${extension}`), join(folder, `${first}.${extension}`))
    const files: string[] = []
    for (const name of [first!, ...others]) {
      if (isSpatial) {
        await writeFile(join(folder, `${name}.prj`), WGS84)
        files.push(`${name}.shp`, `${name}.shx`)
      }
      files.push(`${name}.dbf`)
      if (isSpatial) files.push(`${name}.prj`)
      await writeFile(join(folder, `${name}.cpg`), 'UTF-8')
      files.push(`${name}.cpg`)
    }
    return files
  }

  abandon(): void {
    for (const { shp, dbf } of this.#parts) {
      shp?.abandon()
      dbf.abandon()
    }
  }

  #hasRoom({ shp, dbf }: Part, shape: FlatGeometry | null): boolean {
    const { maxFileBytes } = this.#options
    if (dbf.length + dbf.recordLength > maxFileBytes) return false
    return shp === null || shp.length + shp.maxRecordBytes(shape) <= maxFileBytes
  }

  #begin(number: number): Part {
    const { folder, fields, columns, modified, isSpatial, hasZ } = this.#options
    const { name, family, multi } = this.#layer
    const path = join(folder, number === 1 ? name : `${name}_${number}`)
    return {
      shp: isSpatial ? new ShpWriter(path, family, { multi, hasZ }) : null,
      dbf: new DbfWriter(`${path}.dbf`, fields, columns, modified),
    }
  }
}

function close({ shp, dbf }: Part): void {
  shp?.close()
  dbf.close()
}
