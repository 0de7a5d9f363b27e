import type { Dataset } from '@wayleave/client'

export interface Snippet {
  name: string
  about: string
  code: string
}

const box = (bbox: number[]) => bbox.map((value) => Number(value.toFixed(4))).join(',')

/** Code examples for a dataset. `key` is the whole key if it is known, otherwise its prefix. */
export function snippetsFor(dataset: Dataset, origin: string, key: string): Record<string, Snippet> {
  const { table } = dataset
  const spatial = dataset.bbox !== null
  const file = spatial ? 'geojson' : 'csv'
  const items = `${origin}/v1/ogc/collections/${table}/items`
  const bbox = dataset.bbox ? `bbox=${box(dataset.bbox)}&` : ''
  const python = spatial ? 'read' : 'read_table'
  return {
    curl: {
      name: 'curl',
      about: 'Three features, then the whole dataset as a file.',
      code: `export WAYLEAVE_API_KEY='${key}'
curl -H "X-API-Key: $WAYLEAVE_API_KEY" '${items}?${bbox}limit=3'
curl -H "X-API-Key: $WAYLEAVE_API_KEY" --compressed -o ${table}.${file} \\
  '${origin}/v1/dataset/${table}/files/${file}'`,
    },
    python: {
      name: 'Python',
      about: 'With the Python client; the documentation says how to install it.',
      code: `from wayleave import Client

client = Client('${key}', '${origin}')
${spatial ? 'places' : 'rows'} = client.${python}('${table}')
print(${spatial ? 'places' : 'rows'}.head())`,
    },
    javascript: {
      name: 'JavaScript',
      about:
        'With the JavaScript client, in Node 18 or later and in browsers; the documentation says how to install it.',
      code: `import { Wayleave } from '@wayleave/client'

const wayleave = new Wayleave({ apiKey: '${key}', baseUrl: '${origin}' })
const page = await wayleave.items('${table}', { limit: 100${dataset.bbox ? `, bbox: [${box(dataset.bbox).replaceAll(',', ', ')}]` : ''} })
for (const feature of page.features) console.log(feature.properties)`,
    },
    qgis: {
      name: 'QGIS',
      about: 'Layer › Add Layer › Add WFS / OGC API - Features Layer… › New, then fill in:',
      code: `Name            Wayleave
URL             ${origin}/v1/ogc
Authentication  Basic: the key as the user name, the password left empty
User name       ${key}
Version         OGC API - Features
Page size       10000`,
    },
    gdal: {
      name: 'GDAL',
      about: 'ogrinfo and ogr2ogr 3.5 or later read the service like a file. The key is the user name.',
      code: `export GDAL_HTTP_USERPWD='${key}:'
ogrinfo -so 'OAPIF:${origin}/v1/ogc' ${table}
ogr2ogr ${table}.gpkg 'OAPIF:${origin}/v1/ogc' ${table} -oo PAGE_SIZE=10000`,
    },
  }
}
