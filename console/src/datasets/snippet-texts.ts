import type { Dataset } from '@wayleave/client'
import manifest from '../../package.json' with { type: 'json' }

export interface Snippet {
  name: string
  about: string
  code: string
}

const box = (bbox: number[]) => bbox.map((value) => Number(value.toFixed(4))).join(',')

/**
 * Code examples for a dataset. `key` is the whole key if it is known, otherwise its prefix. With a filter, curl, Python
 * and JavaScript read the rows that match it; the other programs read all rows.
 */
export function snippetsFor(
  dataset: Dataset,
  origin: string,
  key: string,
  filter = '',
): Record<string, Snippet> {
  const { table } = dataset
  const spatial = dataset.bbox !== null
  const file = spatial ? 'geojson' : 'csv'
  const items = `${origin}/v1/ogc/collections/${table}/items`
  const bbox = dataset.bbox ? `bbox=${box(dataset.bbox)}&` : ''
  const python = spatial ? 'read' : 'read_table'
  const variable = PYTHON_WORDS.has(table) || table === 'client' ? `${table}_rows` : table
  const whole = filter === '' ? '' : ' This reads all rows: the filter of the page is not applied.'
  const pythonFilter = filter === '' ? '' : `, filter=${JSON.stringify(filter)}`
  const scriptFilter = filter === '' ? '' : `, filter: ${JSON.stringify(filter)}`
  const filteredCurl = {
    name: 'curl',
    about: 'The rows that match the filter, up to 10,000 in one page; its link "next" leads to more.',
    code: `export WAYLEAVE_API_KEY='${key}'
curl -G -H "X-API-Key: $WAYLEAVE_API_KEY" --compressed -o ${table}.geojson \\
  --data-urlencode ${shellText(`filter=${filter}`)} -d limit=10000 \\
  '${items}'`,
  }
  const wholeCurl = {
    name: 'curl',
    about: 'Three features, then the whole dataset as a file.',
    code: `export WAYLEAVE_API_KEY='${key}'
curl -H "X-API-Key: $WAYLEAVE_API_KEY" '${items}?${bbox}limit=3'
curl -H "X-API-Key: $WAYLEAVE_API_KEY" --compressed -o ${table}.${file} \\
  '${origin}/v1/dataset/${table}/files/${file}'`,
  }
  return {
    curl: filter === '' ? wholeCurl : filteredCurl,
    python: {
      name: 'Python',
      about: 'With the Python client, which pip installs from this service.',
      code: `# pip install "wayleave[${spatial ? 'geo' : 'pandas'}] @ ${origin}/clients/wayleave-${manifest.version}-py3-none-any.whl"
from wayleave import Client

client = Client('${key}', '${origin}')
${variable} = client.${python}('${table}'${pythonFilter})
print(${variable}.head())`,
    },
    javascript: {
      name: 'JavaScript',
      about:
        'With the JavaScript client, in Node 18 or later and in browsers. npm installs it from this service; a page without a bundler imports it from /client.js.',
      code: `// npm install ${origin}/clients/wayleave-client-${manifest.version}.tgz
import { Wayleave } from '@wayleave/client'

const wayleave = new Wayleave({ apiKey: '${key}', baseUrl: '${origin}' })
const page = await wayleave.items('${table}', { limit: 100${scriptFilter}${dataset.bbox && filter === '' ? `, bbox: [${box(dataset.bbox).replaceAll(',', ', ')}]` : ''} })
for (const feature of page.features) console.log(feature.properties)`,
    },
    qgis: {
      name: 'QGIS',
      about: `Layer › Add Layer › Add WFS / OGC API - Features Layer… › New, then fill in.${whole}`,
      code: `Name            Wayleave
URL             ${origin}/v1/ogc
Authentication  Basic: the key as the user name, the password left empty
User name       ${key}
Version         OGC API - Features
Page size       10000`,
    },
    gdal: {
      name: 'GDAL',
      about: `ogrinfo and ogr2ogr 3.5 or later read the service like a file. The key is the user name.${whole}`,
      code: `export GDAL_HTTP_USERPWD='${key}:'
ogrinfo -so 'OAPIF:${origin}/v1/ogc' ${table}
ogr2ogr ${table}.gpkg 'OAPIF:${origin}/v1/ogc' ${table} -oo PAGE_SIZE=10000`,
    },
  }
}

/** Table names that Python does not allow as the names of variables. */
const PYTHON_WORDS = new Set(
  `and as assert async await break class continue def del elif else except finally for from global if import in is
  lambda nonlocal not or pass raise return try while with yield print`.split(/\s+/),
)

/** A text in single quotes for a POSIX shell. */
function shellText(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
