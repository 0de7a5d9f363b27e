import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeLink } from './make-link.ts'

const NAME = 'source'
const LAYER = /<GMLFeatureClass>.*?<\/GMLFeatureClass>/gs
const NO_GEOMETRY = '<GeometryType>100<'

/**
 * A GML file for GDAL, alone in a folder. With a schema beside it (.xsd, .gfs) GDAL drops what is not in the
 * schema, cuts integers to 32 bits and ignores the CRSs of geometries. Without one it finds out what is in the
 * file, and writes that into a .gfs beside it.
 */
export async function gmlSource(path: string, folder: string): Promise<string> {
  const link = join(folder, `${NAME}.gml`)
  await makeLink(path, link)
  return link
}

/** A note if GDAL found geometries in several elements of the features that are read. */
export async function geometryElementNotes(folder: string, layer: string | undefined): Promise<string[]> {
  const schema = await readFile(join(folder, `${NAME}.gfs`), 'utf8').catch(() => '')
  const layers = [...schema.matchAll(LAYER)].map(([text]) => text)
  const hasSeveral = layers.some((text) => {
    const name = /<Name>(.*?)<\/Name>/.exec(text)?.[1]
    const isRead = layer === undefined || name?.toLowerCase() === layer.toLowerCase()
    return isRead && !text.includes(NO_GEOMETRY) && !text.includes('<GeometryElementPath>')
  })
  return hasSeveral
    ? [
        'Features have geometries in different elements. GDAL reads one geometry of each feature, the last one; any others are left out.',
      ]
    : []
}
