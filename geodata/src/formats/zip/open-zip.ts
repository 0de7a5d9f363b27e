import { basename, extname } from 'node:path'
import type { FeatureStream } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { chooseLayer } from '../choose-layer.ts'
import type { ByteSource } from '../reading/byte-source.ts'
import type { SourceLimits } from '../reading/source-limits.ts'
import { openShapefileParts } from '../shapefile/shapefile.ts'
import type { ZipArchive } from './zip.ts'

/**
 * Opens the content of a zip: a layer of shapefiles, or one other file, which `openFile` opens. If there are
 * several, `layer` selects one by name.
 */
export async function openZip<T extends FeatureStream>(
  archive: ZipArchive,
  options: { layer?: string; limits: SourceLimits },
  isReadable: (name: string) => boolean,
  openFile: (source: ByteSource, name: string) => Promise<T>,
): Promise<T | (FeatureStream & { format: string })> {
  const { file, names } = archive
  if (names.includes('xl/workbook.xml'))
    throw new SourceError(`${file} is an Excel workbook. Save its sheet as CSV and publish that.`)
  const shapes = names.filter((name) => extname(name).toLowerCase() === '.shp')
  if (shapes.length > 0) {
    const layers = shapes.map((path) => ({ name: basename(path, extname(path)), path }))
    const layer = chooseLayer(layers, options.layer, file)
    return Object.assign(await openLayer(archive, layer.path, options.limits), { format: 'shapefile' })
  }
  const main = names.find((name) => /(^|\/)doc\.kml$/i.test(name))
  const readable = main ? [main] : names.filter(isReadable)
  if (readable.length === 0) throw new SourceError(`${file} has no file in it that can be read.`)
  const wanted = readable.length > 1 ? options.layer : undefined
  const files = readable.map((path) => ({ name: basename(path), path }))
  const { path } = chooseLayer(files, wanted, file)
  return openFile(archive.source(path), path)
}

async function openLayer(archive: ZipArchive, shp: string, limits: SourceLimits): Promise<FeatureStream> {
  const stem = shp.slice(0, -extname(shp).length).toLowerCase()
  const part = (extension: string) =>
    archive.names.find((name) => name.toLowerCase() === `${stem}${extension}`)
  const text = async (extension: string) => {
    const name = part(extension)
    return name ? await archive.text(name) : null
  }
  const dbf = part('.dbf')
  const [prj, cpg] = [await text('.prj'), await text('.cpg')]
  return openShapefileParts(
    { shp: archive.source(shp), dbf: dbf ? archive.source(dbf) : null, prj, cpg },
    { limits },
  )
}
