import type { Format, Input, OpenOptions } from './format-table.ts'

/** Formats that GDAL reads, if the operator has installed it. */
interface GdalFormat {
  name: string
  title: string
  extensions: string[]
  /** GDAL's name of the driver; no other is tried, whatever the file pretends to be. */
  driver: string
  /** Whether `--encoding` may name the encoding of its text. */
  encoding?: 'reader'
  /** Whether the file states ids of features; otherwise GDAL numbers the rows. */
  hasIds?: true
}

const GDAL_FORMATS: GdalFormat[] = [
  { name: 'gml', title: 'GML', extensions: ['.gml'], driver: 'GML' },
  {
    name: 'mapinfo',
    title: 'MapInfo',
    extensions: ['.tab', '.mif'],
    driver: 'MapInfo File',
    encoding: 'reader',
  },
  { name: 'filegdb', title: 'a File Geodatabase', extensions: ['.gdb'], driver: 'OpenFileGDB', hasIds: true },
  { name: 'xls', title: 'an old Excel workbook', extensions: ['.xls'], driver: 'XLS' },
]

export const GDAL_FORMAT_TABLE: Format[] = GDAL_FORMATS.map(
  ({ name, title, extensions, driver, encoding, hasIds }) => ({
    name,
    title,
    extensions,
    encoding,
    hasLayers: true,
    geometry: 'table',
    async open({ path, file, isAlone }: Input, options: OpenOptions) {
      const { openWithGdal } = await import('./gdal/open-with-gdal.ts')
      return openWithGdal(await path(), file, { ...options, driver, title, isAlone, hasIds: hasIds === true })
    },
  }),
)
