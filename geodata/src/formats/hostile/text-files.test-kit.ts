import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Canary, HostileFile } from './hostile-file.test-kit.ts'

function written({ folder }: Canary, name: string, content: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

/** The canary as addresses: of a file, and of a server. */
const addresses = ({ canaryFile, canaryPort }: Canary) => [
  pathToFileURL(canaryFile).href,
  canaryFile,
  `http://127.0.0.1:${canaryPort}/x`,
  `/vsicurl/http://127.0.0.1:${canaryPort}/x`,
]

const ENTITIES = (canary: Canary) =>
  addresses(canary)
    .map((address, i) => `<!ENTITY e${i} SYSTEM "${address}"><!ENTITY % p${i} SYSTEM "${address}">%p${i};`)
    .join('')
const LAUGHS = Array.from({ length: 12 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join('')
/** Document types with the reference that is put into the document. */
const DOCTYPES: [name: string, doctype: (canary: Canary) => string, reference: string][] = [
  ['external entities', (canary) => `<!DOCTYPE x [${ENTITIES(canary)}]>`, '&e0;&e1;&e2;&e3;'],
  ['an external document type', (canary) => `<!DOCTYPE x SYSTEM "${addresses(canary)[0]}">`, 'own'],
  ['a document type of a server', (canary) => `<!DOCTYPE x SYSTEM "${addresses(canary)[2]}">`, 'own'],
  ['entities that multiply', () => `<!DOCTYPE x [<!ENTITY l0 "ha">${LAUGHS}]>`, '&l12;'],
]

const gml = (prolog: string, attributes: string, content: string) =>
  `<?xml version="1.0"?>${prolog}<ogr:FeatureCollection xmlns:ogr="http://ogr.maptools.org/" xmlns:gml="http://www.opengis.net/gml" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ${attributes}><gml:featureMember><ogr:x><ogr:name>own</ogr:name>${content}</ogr:x></gml:featureMember></ogr:FeatureCollection>`
const kml = (prolog: string, content: string) =>
  `<?xml version="1.0"?>${prolog}<kml xmlns="http://www.opengis.net/kml/2.2"><Document>${content}<Placemark><name>own</name><Point><coordinates>1,2</coordinates></Point></Placemark></Document></kml>`
const gpx = (prolog: string, content: string) =>
  `<?xml version="1.0"?>${prolog}<gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1"><wpt lat="1" lon="2"><name>own</name>${content}</wpt></gpx>`

const GML_FILES: HostileFile[] = [
  ...DOCTYPES.map(
    ([name, doctype, reference]): HostileFile => ({
      name: `GML with ${name}`,
      format: 'gml',
      make: (canary) => written(canary, 'a.gml', gml(doctype(canary), '', `<ogr:y>${reference}</ogr:y>`)),
      expected: { refused: /document type/ },
    }),
  ),
  {
    name: 'GML in UTF-16 with external entities behind a comment',
    format: 'gml',
    make: (canary) =>
      written(
        canary,
        'a.gml',
        Buffer.from(
          `\ufeff${gml(`<!--${' '.repeat(100_000)}--><!DOCTYPE x [${ENTITIES(canary)}]>`, '', '&e0;').replace('?>', ' encoding="UTF-16"?>')}`,
          'utf16le',
        ),
      ),
    expected: { refused: /is XML, but not|document type/ },
  },
  ...[0, 1, 2, 3].flatMap((i): HostileFile[] => [
    {
      name: `GML with a schema location (${i})`,
      format: 'gml',
      make: (canary) =>
        written(
          canary,
          'a.gml',
          gml('', `xsi:schemaLocation="http://ogr.maptools.org/ ${addresses(canary)[i]}"`, ''),
        ),
      expected: 'own-rows',
    },
    {
      name: `GML with links (${i})`,
      format: 'gml',
      make: (canary) =>
        written(
          canary,
          'a.gml',
          gml(
            '',
            '',
            `<ogr:at xlink:href="${addresses(canary)[i]}#x"/><gml:pointProperty xlink:href="${addresses(canary)[i]}"/>`,
          ),
        ),
      expected: 'own-rows',
    },
  ]),
  {
    name: 'GML with a schema beside it that is a link',
    format: 'gml',
    make: (canary) => {
      for (const extension of ['xsd', 'gfs', 'resolved.gml', 'aux.xml'])
        symlinkSync(canary.canaryFile, join(canary.folder, `a.${extension}`))
      return written(canary, 'a.gml', gml('', '', ''))
    },
    expected: 'own-rows',
  },
]

const XML_FILES: HostileFile[] = [
  ...DOCTYPES.flatMap(([name, doctype, reference]): HostileFile[] => [
    {
      name: `KML with ${name}`,
      format: 'kml',
      make: (canary) => written(canary, 'a.kml', kml(doctype(canary), `<name>${reference}</name>`)),
      expected: reference === 'own' ? 'own-rows' : { refused: /not valid XML|entity/ },
    },
    {
      name: `GPX with ${name}`,
      format: 'gpx',
      make: (canary) => written(canary, 'a.gpx', gpx(doctype(canary), `<desc>${reference}</desc>`)),
      expected: reference === 'own' ? 'own-rows' : { refused: /not valid XML|entity/ },
    },
  ]),
  ...[0, 1, 2, 3].map(
    (i): HostileFile => ({
      name: `KML with links (${i})`,
      format: 'kml',
      make: (canary) => {
        const href = `<href>${addresses(canary)[i]}</href>`
        const links = `<NetworkLink><Link>${href}</Link></NetworkLink><GroundOverlay><Icon>${href}</Icon></GroundOverlay>`
        const schema = `<Placemark><styleUrl>${addresses(canary)[i]}#x</styleUrl><ExtendedData><SchemaData schemaUrl="${addresses(canary)[i]}#s"><SimpleData name="n">own</SimpleData></SchemaData></ExtendedData></Placemark>`
        return written(canary, 'a.kml', kml('', links + schema))
      },
      expected: 'own-rows',
    }),
  ),
  {
    name: 'GeoJSON whose CRS is a link',
    format: 'geojson',
    make: (canary) =>
      written(
        canary,
        'a.geojson',
        JSON.stringify({
          type: 'FeatureCollection',
          crs: { type: 'link', properties: { href: addresses(canary)[2], type: 'proj4' } },
          features: [
            {
              type: 'Feature',
              properties: { name: 'own' },
              geometry: { type: 'Point', coordinates: [1, 2] },
            },
          ],
        }),
      ),
    expected: { refused: /does not name its CRS/ },
  },
]

/** Definitions for GDAL's drivers that open other files or servers. */
const DEFINITIONS: [name: string, text: (canary: Canary, address: string) => string][] = [
  [
    'VRT',
    (_, address) =>
      `<OGRVRTDataSource><OGRVRTLayer name="a"><SrcDataSource relativeToVRT="0">${address}</SrcDataSource></OGRVRTLayer></OGRVRTDataSource>`,
  ],
  [
    'VRT that mentions GML',
    (_, address) =>
      `<OGRVRTDataSource xmlns="http://www.opengis.net/gml"><OGRVRTLayer name="a"><SrcDataSource>${address}</SrcDataSource></OGRVRTLayer></OGRVRTDataSource>`,
  ],
  ['WFS', (_, address) => `<OGRWFSDataSource><URL>${address}</URL></OGRWFSDataSource>`],
  [
    'raster VRT',
    (_, address) =>
      `<VRTDataset rasterXSize="1" rasterYSize="1"><VRTRasterBand><SimpleSource><SourceFilename>${address}</SourceFilename></SimpleSource></VRTRasterBand></VRTDataset>`,
  ],
]
const EXTENSIONS = ['tab', 'mif', 'xls', 'sqlite', 'gpkg', 'csv', 'geojson', 'shp']

const REFUSED = { refused: /is XML, but not|is not |cannot open it as such|GDAL cannot read|has no layer/ }

const FALSE_NAMES: HostileFile[] = DEFINITIONS.flatMap(([name, text]) => [
  ...[0, 1, 2, 3].map(
    (i): HostileFile => ({
      name: `${name} as .gml (${i})`,
      format: 'gml',
      make: (canary) => written(canary, 'a.gml', text(canary, addresses(canary)[i]!)),
      expected: REFUSED,
    }),
  ),
  // What GDAL reads as GML does not depend on the extension.
  ...(name.includes('GML') ? [] : EXTENSIONS).map(
    (extension): HostileFile => ({
      name: `${name} as .${extension}`,
      format: extension,
      make: (canary) => written(canary, `a.${extension}`, text(canary, canary.canaryFile)),
      expected: REFUSED,
    }),
  ),
  ...['gml', 'mapinfo', 'xls', 'filegdb', 'spatialite', 'geopackage', 'csv', 'shapefile'].map(
    (format): HostileFile => ({
      name: `${name} with --format ${format}`,
      format,
      make: (canary) => written(canary, 'a', text(canary, canary.canaryFile)),
      options: { format },
      expected: REFUSED,
    }),
  ),
])

const tab = (definition: string) => `!table\n!version 300\n!charset WindowsLatin1\n\n${definition}`
const FIELDS = '  Fields 1\n    name Char (10) ;\n'
const TABLES: [name: string, definition: (canary: Canary) => string, refused: RegExp][] = [
  [
    'a view of another table',
    ({ canaryFile }) => `Open Table "${canaryFile}" Hide\nCreate View a As\nSelect * From b\n`,
    /view of other tables/,
  ],
  [
    'a seamless table',
    () =>
      `Definition Table\n  Type NATIVE Charset "WindowsLatin1"\n${FIELDS}begin_metadata\n"\\IsSeamless" = "TRUE"\nend_metadata\n`,
    /seamless/,
  ],
  [
    'a raster table',
    ({ canaryFile }) => `Definition Table\n  File "${canaryFile}"\n  Type "RASTER"\n`,
    /names another file/,
  ],
  ['a table of another type', () => `Definition Table\n  Type ACCESS TABLE "x"\n${FIELDS}`, /type ACCESS/],
]

const MIF =
  'Version 300\nCharset "WindowsLatin1"\nDelimiter ","\nColumns 1\n  name Char(10)\nData\n\nPoint 1 2\n'

const MAPINFO_FILES: HostileFile[] = [
  ...TABLES.map(
    ([name, definition, refused]): HostileFile => ({
      name: `MapInfo, ${name}`,
      format: 'mapinfo',
      make: (canary) => written(canary, 'a.tab', tab(definition(canary))),
      expected: { refused },
    }),
  ),
  {
    name: 'MapInfo with values that are a link',
    format: 'mapinfo',
    make: (canary) => {
      symlinkSync(canary.canaryFile, join(canary.folder, 'a.mid'))
      return written(canary, 'a.mif', MIF)
    },
    expected: { refused: /a\.mid, which belongs to a\.mif, is a symbolic link/ },
  },
  {
    name: 'MapInfo with other files beside it that are links',
    format: 'mapinfo',
    make: (canary) => {
      writeFileSync(join(canary.folder, 'a.mid'), '"own"\n')
      for (const extension of ['aux.xml', 'prj', 'cpg', 'qix'])
        symlinkSync(canary.canaryFile, join(canary.folder, `a.${extension}`))
      return written(canary, 'a.mif', MIF)
    },
    expected: 'own-rows',
  },
]

/** A shapefile of one point. */
function shp(): Buffer {
  const bytes = Buffer.alloc(128)
  bytes.writeInt32BE(9994, 0)
  bytes.writeInt32BE(64, 24)
  bytes.writeInt32LE(1000, 28)
  bytes.writeInt32LE(1, 32)
  bytes.writeInt32BE(1, 100)
  bytes.writeInt32BE(10, 104)
  bytes.writeInt32LE(1, 108)
  return bytes
}

const FOLDERS: HostileFile[] = [
  ...['dbf', 'prj', 'cpg'].map(
    (extension): HostileFile => ({
      name: `Shapefile whose .${extension} is a link`,
      format: 'shapefile',
      make: (canary) => {
        symlinkSync(canary.canaryFile, join(canary.folder, `a.${extension}`))
        return written(canary, 'a.shp', shp())
      },
      expected: { refused: /is a symbolic link/ },
    }),
  ),
  {
    name: 'Geodatabase of links',
    format: 'filegdb',
    make: (canary) => {
      const path = join(canary.folder, 'a.gdb')
      mkdirSync(path)
      symlinkSync(canary.canaryFile, join(path, 'a00000001.gdbtable'))
      return path
    },
    expected: { refused: /is a symbolic link/ },
  },
]

export const TEXT_FILES: HostileFile[] = [
  ...GML_FILES,
  ...XML_FILES,
  ...FALSE_NAMES,
  ...MAPINFO_FILES,
  ...FOLDERS,
]
