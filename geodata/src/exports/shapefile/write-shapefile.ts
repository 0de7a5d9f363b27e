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
import { divideCollection, familyOf } from './divide-collection.ts'
import { type Field, planFields } from './fields.ts'
import { LayerFiles } from './layer-files.ts'
import { planLayers } from './layers.ts'
import { notes } from './notes.ts'
import type { Family } from './shp-writer.ts'
import { survey } from './survey.ts'

/** Larger offsets are negative for the many readers that use signed 32-bit integers. */
export const MAX_FILE_BYTES = 2 ** 31 - 1

/**
 * Writes a zip of shapefiles. The files are first written next to the archive, because their headers contain
 * values that are only known at the end, and then compressed into it. A layer beyond 2 GB is in several shapefiles.
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
  const columns = exportColumns(manifest)
  const contents = await survey(folder, manifest, signal)
  const fields = columns.length > 0 ? planFields(columns, contents.columns) : [numberField(manifest)]
  const layers = planLayers(table, manifest, contents)
  const layerOptions = {
    folder: parts,
    fields,
    columns,
    modified: modified(options),
    isSpatial: manifest.geometryType !== null,
    hasZ: manifest.hasZ,
    maxFileBytes,
  }
  const writers = layers.map((layer) => new LayerFiles(layer, layerOptions))
  const files: string[] = []
  try {
    await writeRecords(folder, manifest, writers, columns.length > 0, signal)
    for (const writer of writers) files.push(...(await writer.finish()))
  } finally {
    for (const writer of writers) writer.abandon()
  }
  const written = {
    parts: writers.map(({ names }) => names),
    ringsLeftOut: writers.reduce((sum, { ringsLeftOut }) => sum + ringsLeftOut, 0),
  }
  const text = notes(table, columns, fields, contents, layers, written)
  if (text) {
    await writeFile(join(parts, `${table}_fields.txt`), text)
    files.push(`${table}_fields.txt`)
  }
  return files
}

/** Writes all features; a dataset without columns gets their numbers as attributes. */
async function writeRecords(
  folder: string,
  manifest: Manifest,
  writers: readonly LayerFiles[],
  hasColumns: boolean,
  signal: AbortSignal | undefined,
): Promise<void> {
  const byFamily = new Map(writers.map((writer) => [writer.family, writer]))
  const slices = new FeatureSlices()
  const values = new RowSlices(manifest)
  const geometry = new FlatGeometry()
  let number = 0
  const add = (bytes: Buffer, family: Family, shape: FlatGeometry | null) => {
    const isAdded = byFamily
      .get(family)!
      .add(shape, (dbf) => (hasColumns ? dbf.add(bytes, values) : dbf.addNumber(number)))
    if (!isAdded) throw tooLarge()
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
}

/** A shapefile must have at least one field, so a dataset without columns gets the feature numbers. */
function numberField({ rows }: Manifest): Field {
  return { name: 'number', type: 'N', width: String(rows).length, decimals: 0, offset: 1 }
}

function tooLarge(): ExportError {
  return new ExportError(
    'shapefile-too-large',
    'A shapefile holds at most 2 GB of shapes, and one feature of this dataset alone needs more. ' +
      'Take another format, such as gpkg.',
  )
}
