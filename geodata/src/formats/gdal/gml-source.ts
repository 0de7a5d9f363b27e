import { open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { SourceError } from '../../source-error.ts'
import { makeLink } from './make-link.ts'

const NAME = 'source'
const PIECE_BYTES = 1 << 16
const MAX_PROLOG_BYTES = 1 << 20
const LAYER = /<GMLFeatureClass>.*?<\/GMLFeatureClass>/gs
const NO_GEOMETRY = '<GeometryType>100<'

/**
 * A GML file for GDAL, alone in a folder. With a schema beside it (.xsd, .gfs) GDAL drops what is not in the
 * schema, cuts integers to 32 bits and ignores the CRSs of geometries. Without one it finds out what is in the
 * file, and writes that into a .gfs beside it.
 */
export async function gmlSource(path: string, file: string, folder: string): Promise<string> {
  await refuseDocumentType(path, file)
  const link = join(folder, `${NAME}.gml`)
  await makeLink(path, link)
  return link
}

/**
 * Throws if there is anything but comments and processing instructions before the root element: GML has no
 * document type, and one could define entities that name other files or multiply their text.
 */
async function refuseDocumentType(path: string, file: string): Promise<void> {
  const handle = await open(path)
  try {
    let prolog = ''
    for (let offset = 0; offset < MAX_PROLOG_BYTES; offset += PIECE_BYTES) {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(PIECE_BYTES), 0, PIECE_BYTES, offset)
      // All marks are ASCII, so this is enough for UTF-16 too.
      prolog += buffer.toString('latin1', 0, bytesRead).replaceAll('\0', '')
      const start = prolog.replace(/<!--.*?-->|<\?.*?\?>/gs, '').match(/<(?!!--|\?)(.)/s)
      if (start?.[1] === '!')
        throw new SourceError(`${file} has a document type (DOCTYPE), which GML does not have. Remove it.`)
      if (start || bytesRead === 0) return
    }
    throw new SourceError(`${file} has no element in its first ${MAX_PROLOG_BYTES} bytes.`)
  } finally {
    await handle.close()
  }
}

/** Lets GDAL find out anew what is in the file. */
export async function removeSchema(folder: string): Promise<void> {
  await rm(join(folder, `${NAME}.gfs`), { force: true })
}

/** The CRSs of the layers as the file names them, if all geometries of a layer have the same. */
export async function layerSrsNames(folder: string): Promise<string[]> {
  const schema = await readFile(join(folder, `${NAME}.gfs`), 'utf8').catch(() => '')
  return [...schema.matchAll(/<SRSName>(.*?)<\/SRSName>/g)].map(([, name]) => name!.replaceAll('&amp;', '&'))
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
