import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ExportError } from '../../export-error.ts'
import { FeatureSlices, readPack } from '../../pack/pack-reader.ts'
import { exportColumns } from '../../snapshot/feature-ids.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import { RowSlices } from '../../snapshot/row-slices.ts'
import { ByteSink } from '../byte-sink.ts'
import type { ExportOptions } from '../export-options.ts'
import { FlatGeometry } from '../geometry/flat-geometry.ts'
import { COLLECTION } from '../geometry/geometry-bytes.ts'
import { ZipWriter } from '../zip/zip-writer.ts'
import { DbfWriter } from './dbf-writer.ts'
import { divideCollection, familyOf } from './divide-collection.ts'
import { type Field, planFields } from './fields.ts'
import { planLayers } from './layers.ts'
import { notes } from './notes.ts'
import { type Family, ShpWriter } from './shp-writer.ts'
import { survey } from './survey.ts'

/** Larger offsets are negative for the many readers that use signed 32-bit integers. */
export const MAX_FILE_BYTES = 2 ** 31 - 1

const WGS84 =
  'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],' +
  'PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'

/**
 * Writes a zip of shapefiles. The files are first written next to the archive, because their headers contain
 * values that are only known at the end, and then compressed into it.
 */
export async function writeShapefile(
  folder: string,
  manifest: Manifest,
  partial: string,
  options: ExportOptions,
  maxFileBytes = MAX_FILE_BYTES,
): Promise<string | undefined> {
  const parts = `${partial}.parts`
  await mkdir(parts, { recursive: true })
  try {
    const files = await writeParts(folder, manifest, parts, options, maxFileBytes)
    const sink = new ByteSink(partial, { hashed: false })
    try {
      const zip = new ZipWriter(sink, modified(options))
      for (const file of files) await zip.addFile(file, join(parts, file), options.signal)
      zip.finish()
      return sink.close()
    } finally {
      sink.abandon()
    }
  } finally {
    await rm(parts, { recursive: true, force: true })
  }
}

function modified({ updatedAt }: ExportOptions): Date {
  return new Date(updatedAt ?? '1980-01-01T00:00:00Z')
}

/** Writes the files of all layers into `parts` and returns their names. */
async function writeParts(
  folder: string,
  manifest: Manifest,
  parts: string,
  options: ExportOptions,
  maxFileBytes: number,
): Promise<string[]> {
  const { table, signal } = options
  const spatial = manifest.geometryType !== null
  const columns = exportColumns(manifest)
  const contents = await survey(folder, manifest, signal)
  const fields = columns.length > 0 ? planFields(columns, contents.columns) : [numberField(manifest)]
  const layers = planLayers(table, manifest, contents)
  const writers = layers.map(({ name, family, multi }) => ({
    family,
    shp: spatial ? new ShpWriter(join(parts, name), family, { multi, hasZ: manifest.hasZ }) : null,
    dbf: new DbfWriter(join(parts, `${name}.dbf`), fields, columns, modified(options)),
  }))
  try {
    const byFamily = new Map(writers.map((writer) => [writer.family, writer]))
    const slices = new FeatureSlices()
    const values = new RowSlices(manifest)
    const geometry = new FlatGeometry()
    let number = 0
    const add = (bytes: Buffer, family: Family, shape: FlatGeometry | null) => {
      const { shp, dbf } = byFamily.get(family)!
      if (shape) shp?.add(shape)
      else shp?.addNull()
      if (columns.length > 0) dbf.add(bytes, values)
      else dbf.addNumber(number)
      if (dbf.length > maxFileBytes || (shp && shp.length > maxFileBytes)) throw tooLarge()
    }
    for await (const { bytes, count, starts, ends } of readPack(folder, manifest, signal)) {
      for (let i = 0; i < count; i++) {
        number++
        slices.locate(bytes, starts[i]!, ends[i]!)
        values.locateRow(bytes, slices)
        if (!geometry.read(bytes, slices.geometryStart)) add(bytes, writers[0]!.family, null)
        else if (geometry.code !== COLLECTION) add(bytes, familyOf(geometry.code), geometry)
        else for (const [family, shape] of divideCollection(geometry)) add(bytes, family, shape)
      }
    }
    for (const { shp, dbf } of writers) {
      shp?.close()
      dbf.close()
    }
  } finally {
    for (const { shp, dbf } of writers) {
      shp?.abandon()
      dbf.abandon()
    }
  }
  const files: string[] = []
  for (const { name } of layers) {
    if (spatial) {
      await writeFile(join(parts, `${name}.prj`), WGS84)
      files.push(`${name}.shp`, `${name}.shx`)
    }
    files.push(`${name}.dbf`)
    if (spatial) files.push(`${name}.prj`)
    await writeFile(join(parts, `${name}.cpg`), 'UTF-8')
    files.push(`${name}.cpg`)
  }
  const ringsLeftOut = writers.reduce((sum, { shp }) => sum + (shp?.ringsLeftOut ?? 0), 0)
  const text = notes(table, columns, fields, contents, layers, ringsLeftOut)
  if (text) {
    await writeFile(join(parts, `${table}_fields.txt`), text)
    files.push(`${table}_fields.txt`)
  }
  return files
}

/** A shapefile must have at least one field, so a dataset without columns gets the feature numbers. */
function numberField({ rows }: Manifest): Field {
  return { name: 'number', type: 'N', width: String(rows).length, decimals: 0, offset: 1 }
}

function tooLarge(): ExportError {
  return new ExportError(
    'shapefile-too-large',
    'A shapefile holds at most 2 GB of shapes and 2 GB of attributes, and this dataset needs more. ' +
      'Take another format, such as gpkg.',
  )
}
