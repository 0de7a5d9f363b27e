import type { Dataset } from '@wayleave/client'
import { LOOK_PARAMETERS } from '@wayleave/contract/map-style'
import manifest from '../../package.json' with { type: 'json' }
import { variableName } from './variable-name.ts'

export interface Snippet {
  name: string
  about: string
  code: string
}

/** What the examples are about. */
interface View {
  dataset: Dataset
  origin: string
  /** CQL2 text; empty for all rows. */
  filter: string
}

const box = (bbox: number[]) => bbox.map((value) => Number(value.toFixed(4))).join(',')

/**
 * Code examples for a dataset, which read the key from the environment (`WAYLEAVE_API_KEY`) and so run as pasted. With
 * a filter, every example reads the rows that match it; without one, all rows. `mapQuery` is the map's view and colors,
 * as a query.
 */
export function snippetsFor(
  dataset: Dataset,
  origin: string,
  filter = '',
  mapQuery = '',
): Record<string, Snippet> {
  const view = { dataset, origin, filter }
  const isEmbeddable = dataset.bbox !== null && dataset.sample !== null
  return {
    curl: curl(view),
    python: python(view),
    javascript: javascript(view),
    r: r(view),
    duckdb: duckdb(view),
    qgis: filter === '' ? qgisConnection(view) : qgisLayer(view),
    gdal: gdal(view),
    ...(isEmbeddable && { embed: embed(view, mapQuery) }),
  }
}

function curl({ dataset: { table, bbox }, origin, filter }: View): Snippet {
  const items = `${origin}/v1/ogc/collections/${table}/items`
  const format = bbox ? 'geojson' : 'csv'
  if (filter !== '') {
    return {
      name: 'curl',
      about: 'The rows that match the filter, in one file.',
      code: `curl -fG -H "X-API-Key: $WAYLEAVE_API_KEY" --compressed -o ${table}.${format} \\
  -d f=${format} --data-urlencode ${shellText(`filter=${filter}`)} \\
  '${origin}/v1/ogc/collections/${table}/extract'`,
    }
  }
  const area = bbox ? `bbox=${box(bbox)}&` : ''
  return {
    name: 'curl',
    about: 'Three features, then the whole dataset as a file.',
    code: `curl -H "X-API-Key: $WAYLEAVE_API_KEY" \\
  '${items}?${area}limit=3'
curl -fH "X-API-Key: $WAYLEAVE_API_KEY" --compressed -o ${table}.${format} \\
  '${origin}/v1/dataset/${table}/files/${format}'`,
  }
}

function python({ dataset: { table, bbox }, origin, filter }: View): Snippet {
  const variable = variableName(table, 'python')
  const call = bbox ? 'read' : 'read_table'
  const chosen = filter === '' ? '' : `, filter=${JSON.stringify(filter)}`
  return {
    name: 'Python',
    about: 'With the Python client, which pip installs from this service.',
    code: `# pip install "wayleave[${bbox ? 'geo' : 'pandas'}] @ ${origin}/clients/wayleave-${manifest.version}-py3-none-any.whl"
from wayleave import Client

client = Client(base_url='${origin}')
${variable} = client.${call}('${table}'${chosen})
print(${variable}.head())`,
  }
}

function javascript({ dataset: { table }, origin, filter }: View): Snippet {
  const variable = variableName(table, 'javascript')
  const chosen = filter === '' ? '' : `, filter: ${JSON.stringify(filter)}`
  return {
    name: 'JavaScript',
    about:
      'With the JavaScript client, in Node 18 or later. npm installs it from this service. A web page imports /client.js and passes a key with allowed origins as apiKey.',
    code: `// npm install ${origin}/clients/wayleave-client-${manifest.version}.tgz
import { Wayleave } from '@wayleave/client'

const wayleave = new Wayleave({ baseUrl: '${origin}' })
const ${variable} = wayleave.items('${table}', { limit: 10000${chosen} })
for await (const feature of ${variable}) console.log(feature.properties)`,
  }
}

function r(view: View): Snippet {
  const { dataset } = view
  const variable = variableName(dataset.table, 'r')
  const headers = `headers = c("X-API-Key" = Sys.getenv("WAYLEAVE_API_KEY"))`
  if (!dataset.bbox) {
    return {
      name: 'R',
      about: `${whatIsRead(view)} as a data frame, with R alone.`,
      code: `address <- ${doubleQuoted(fileUrl(view, 'csv'))}
${variable} <- read.csv(url(address, ${headers}), encoding = "UTF-8")
print(head(${variable}))`,
    }
  }
  return {
    name: 'R',
    about: `${whatIsRead(view)} as a simple features table, with the package sf.`,
    code: `library(sf)

address <- ${doubleQuoted(fileUrl(view, 'geojson'))}
file <- tempfile(fileext = ".geojson")
download.file(address, file, mode = "wb", ${headers})
${variable} <- st_read(file)
print(head(${variable}))`,
  }
}

function duckdb(view: View): Snippet {
  const { table } = view.dataset
  return {
    name: 'DuckDB',
    about: `${whatIsRead(view)} as Parquet, in a DuckDB database. Needs curl and the DuckDB command line, no extension.`,
    code: `curl -fH "X-API-Key: $WAYLEAVE_API_KEY" -o ${table}.parquet \\
  ${shellText(fileUrl(view, 'geoparquet'))}
duckdb ${table}.duckdb -c 'CREATE OR REPLACE TABLE "${table}" AS FROM "${table}.parquet"; SUMMARIZE "${table}"'`,
  }
}

function qgisConnection({ origin }: View): Snippet {
  return {
    name: 'QGIS',
    about: 'Layer › Add Layer › Add WFS / OGC API - Features Layer… › New, then fill in.',
    code: `Name            Wayleave
URL             ${origin}/v1/ogc
Authentication  Basic, with an empty password
User name       the secret of your key
Version         OGC API - Features
Page size       10000`,
  }
}

/** QGIS sends no CQL2 filter by itself, so a layer of filtered rows is a file that GDAL reads. */
function qgisLayer(view: View): Snippet {
  const { table } = view.dataset
  return {
    name: 'QGIS',
    about: 'Plugins › Python Console, then paste: a layer of the rows that match the filter.',
    code: `import os
from osgeo import gdal
gdal.SetConfigOption('GDAL_HTTP_USERPWD', os.environ['WAYLEAVE_API_KEY'] + ':')
layer = QgsVectorLayer(${JSON.stringify(`/vsicurl_streaming/${fileUrl(view, 'geojson')}`)}, '${table}', 'ogr')
QgsProject.instance().addMapLayer(layer)`,
  }
}

function gdal(view: View): Snippet {
  const { dataset, origin, filter } = view
  const { table } = dataset
  const start = 'export GDAL_HTTP_USERPWD="$WAYLEAVE_API_KEY:"'
  if (filter !== '') {
    return {
      name: 'GDAL',
      about: 'ogr2ogr writes the rows that match the filter to a GeoPackage. The key is the user name.',
      code: `${start}
ogr2ogr ${table}.gpkg ${shellText(fileUrl(view, 'geojson'))} -nln ${table}`,
    }
  }
  return {
    name: 'GDAL',
    about: 'ogrinfo and ogr2ogr 3.5 or later read the service like a file. The key is the user name.',
    code: `${start}
ogrinfo -so 'OAPIF:${origin}/v1/ogc' ${table}
ogr2ogr ${table}.gpkg 'OAPIF:${origin}/v1/ogc' ${table} -oo PAGE_SIZE=10000`,
  }
}

/** The parts of the map's look that need no rows but those of the sample. */
const SAMPLE_LOOK = ['view', 'label', 'ramp', 'opacity', 'colors']

/**
 * What the frame takes of the explorer's address, which has the look of the map. For an open dataset that is all that
 * the map shows; for another one the view, and what the sample and the most frequent texts are enough for.
 */
export function embedQuery(
  { columns, visibility }: Pick<Dataset, 'columns' | 'visibility'>,
  address: URLSearchParams,
): string {
  const shown: readonly string[] = ['view', 'filter', 'classes', ...LOOK_PARAMETERS]
  if (visibility === 'open') {
    return new URLSearchParams([...address].filter(([name]) => shown.includes(name))).toString()
  }
  const color = address.get('color') ?? ''
  const isPublic = columns.some(({ name, type }) => name === color && (type === 'text' || type === 'boolean'))
  const taken = [...address].filter(([name]) => SAMPLE_LOOK.includes(name))
  if (address.get('draw') === 'heat') taken.push(['draw', 'heat'])
  return new URLSearchParams([...taken, ['color', isPublic ? color : '']]).toString()
}

/** A map for other sites. It has no key, so it shows what everybody may get. */
function embed({ dataset: { table, title, visibility }, origin }: View, mapQuery: string): Snippet {
  const address = `${origin}/embed/${table}${mapQuery && `?${mapQuery}`}`
  return {
    name: 'Embed',
    about:
      visibility === 'open'
        ? 'This map, with its filter and its look, for any web page. It needs no key.'
        : 'A map of the free sample for any web page. It needs no key; the filter is not applied.',
    code: `<iframe src="${htmlText(address)}" title="${htmlText(title)}" width="100%" height="480" loading="lazy" style="border:0" allow="fullscreen"></iframe>`,
  }
}

function htmlText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}

/** The address of a file: of the rows that match if there is a filter, else of the whole dataset. */
function fileUrl(
  { dataset: { table }, origin, filter }: View,
  format: 'csv' | 'geojson' | 'geoparquet',
): string {
  if (filter === '') return `${origin}/v1/dataset/${table}/files/${format}`
  // Parentheses and quotes are allowed in a query, but programs that paste addresses into shells dislike them.
  const text = encodeURIComponent(filter).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${origin}/v1/ogc/collections/${table}/extract?f=${format}&filter=${text}`
}

function whatIsRead({ filter }: View): string {
  return filter === '' ? 'The whole dataset' : 'The rows that match the filter'
}

/** A text in single quotes for a POSIX shell. */
function shellText(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** A text in double quotes for R. */
function doubleQuoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}
