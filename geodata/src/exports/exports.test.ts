import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { ExportFormat } from '@wayleave/contract/export-formats'
import { needs } from '../../../scripts/test-run/needs.ts'
import type { Geometry } from '../feature.ts'
import { type Manifest, SNAPSHOT_FILES } from '../snapshot/manifest.ts'
import { buildExport, EXPORT_ENTRIES } from './index.ts'
import { nameColumn } from './name-column.ts'
import { compileFeatures, type Fixture, temporaryFolder } from './testing/compiled-fixture.ts'
import {
  assertSameFeatures,
  parseExactly,
  type Reader,
  type ReadFeature,
} from './testing/feature-comparison.ts'
import { HIGH_FEATURES, NASTY_FEATURES, ROOF_FEATURES } from './testing/nasty-features.ts'
import { REAL_FEATURES } from './testing/real-features.ts'

needs('gdal', 'python')

const run = promisify(execFile)
const DATASETS = {
  ...REAL_FEATURES,
  nasty: () => NASTY_FEATURES,
  high: () => HIGH_FEATURES,
  roofs: () => ROOF_FEATURES,
}

interface Built extends Fixture {
  name: string
  expected: ReadFeature[]
  paths: { [format in ExportFormat]?: string }
}

/** Compiles a dataset and builds all exports, to be compared with the pack, which has its own tests. */
async function build(name: keyof typeof DATASETS, root: string): Promise<Built> {
  const fixture = await compileFeatures(join(root, name), DATASETS[name]())
  const pack = await readFile(join(fixture.folder, SNAPSHOT_FILES.pack), 'utf8')
  const paths: Built['paths'] = {}
  for (const { format, extension } of EXPORT_ENTRIES.filter(({ writer }) => writer)) {
    paths[format] = join(root, `${name}.${extension}`)
    await buildExport(fixture.folder, format, paths[format], {
      table: name,
      title: `The ${name}`,
      license: 'a & b',
    })
  }
  return { ...fixture, name, paths, expected: parseExactly(`[${pack}]`) as ReadFeature[] }
}

test('GDAL and geopandas read the same features from every format', async (t) => {
  const python = process.env['WAYLEAVE_TEST_PYTHON']
  assert.ok(
    python,
    'WAYLEAVE_TEST_PYTHON must name a Python with geopandas, lxml and fastkml; npm test sets it.',
  )
  const root = await temporaryFolder((remove) => t.after(remove))
  const datasets: Built[] = []
  for (const name of Object.keys(DATASETS) as (keyof typeof DATASETS)[])
    datasets.push(await build(name, root))

  for (const dataset of datasets) {
    for (const format of ['csv', 'geojson', 'kml', 'shp', 'gpkg', 'fgb'] as const) {
      await t.test(`GDAL: ${dataset.name} as ${format}`, async () => {
        const name = `GDAL, ${dataset.name}, ${format}`
        assertSame({ name, format, isGdal: true }, dataset, await readWithGdal(dataset, format))
      })
    }
    await t.test(`JSON: ${dataset.name}`, async () => {
      const rows = parseExactly(await readFile(dataset.paths.json!, 'utf8')) as ReadFeature['properties'][]
      const found = rows.map((row) => fromRow(row, dataset))
      assertSame({ name: dataset.name, format: 'json', isGdal: false }, dataset, found)
    })
  }

  const formats = ['csv', 'geojson', 'kml', 'shp', 'geoparquet', 'gpkg', 'fgb'] as const
  const requests = datasets
    .flatMap((dataset) => formats.map((format) => ({ dataset, format })))
    // pyogrio rejects every FlatGeobuf layer of mixed types with heights, also those written by GDAL.
    .filter(({ dataset, format }) => !(dataset.name === 'high' && format === 'fgb'))
  const answers = await readWithPython(python, requests)
  for (const [i, { dataset, format }] of requests.entries()) {
    await t.test(`geopandas: ${dataset.name} as ${format}`, () => {
      const name = `geopandas, ${dataset.name}, ${format}`
      assertSame({ name, format, isGdal: false }, dataset, answers[i]!)
    })
  }
})

function assertSame(reader: Reader, { manifest, expected }: Built, actual: ReadFeature[]): void {
  const layered = reader.format === 'shp' && manifest.geometryType === 'Geometry'
  assertSameFeatures(reader, manifest, layered ? byFamily(expected) : expected, actual)
}

/** The layers of a shapefile one after the other: points with features without geometry, lines, polygons. */
function byFamily(features: ReadFeature[]): ReadFeature[] {
  const of = (kind: RegExp, part: (geometry: Geometry | null) => Geometry[]) =>
    features.flatMap(({ properties, geometry }) => {
      const parts = part(geometry)
      const wanted = parts.filter(({ type }) => kind.test(type))
      const none = parts.length === 0 && kind.test('Point')
      if (wanted.length === 0 && !none) return []
      const collection: Geometry = { type: 'GeometryCollection', geometries: wanted }
      return [{ properties, geometry: none ? null : collection }]
    })
  const parts = (geometry: Geometry | null): Geometry[] => {
    if (!geometry) return []
    if (geometry.type === 'GeometryCollection') return geometry.geometries.flatMap(parts)
    return geometry.coordinates.length > 0 ? [geometry] : []
  }
  return [...of(/Point/, parts), ...of(/Line/, parts), ...of(/Polygon/, parts)]
}

function fromRow(row: ReadFeature['properties'], { manifest }: Built): ReadFeature {
  const { longitude, latitude, geometry, ...properties } = row
  if (manifest.geometryType === null) return { properties, geometry: null }
  if (manifest.geometryType !== 'Point') {
    assert.equal(typeof longitude, geometry === null || isEmpty(geometry as Geometry) ? 'object' : 'number')
    return { properties, geometry: geometry as Geometry | null }
  }
  const point: Geometry = { type: 'Point', coordinates: [longitude as number, latitude as number] }
  return { properties, geometry: longitude === null ? null : point }
}

function isEmpty(geometry: Geometry): boolean {
  return geometry.type !== 'GeometryCollection' && geometry.coordinates.length === 0
}

async function readWithGdal({ paths, manifest }: Built, format: ExportFormat): Promise<ReadFeature[]> {
  const path = paths[format]!
  const source = format === 'shp' ? `/vsizip/${path}` : path
  const options = openOptions(format, manifest)
  // All others have one layer. Without a layer's name ogr2ogr fails if there are more.
  const hasLayers = format === 'shp' && manifest.geometryType === 'Geometry'
  const selections = hasLayers ? (await layerNames(source, options)).map((layer) => [layer]) : [[]]
  const found: ReadFeature[] = []
  for (const selection of selections) {
    const { stdout } = await run(
      'ogr2ogr',
      [
        ...[
          '-f',
          'GeoJSON',
          '/vsistdout/',
          '-lco',
          'COORDINATE_PRECISION=17',
          '-lco',
          'SIGNIFICANT_FIGURES=17',
        ],
        ...['-lco', 'WRITE_NAME=NO', '-lco', 'RFC7946=NO', '-lco', 'ID_GENERATE=NO', ...options],
        ...[source, ...selection],
      ],
      { maxBuffer: 1 << 28 },
    )
    found.push(...(parseExactly(stdout) as { features: ReadFeature[] }).features)
  }
  // GDAL returns the placemark's name instead of the value with that name.
  const name = manifest.columns[nameColumn(manifest.columns)]?.name
  if (format === 'kml' && name) for (const { properties } of found) properties[name] ??= properties['Name']
  return found
}

async function layerNames(source: string, options: string[]): Promise<string[]> {
  const { stdout } = await run('ogrinfo', ['-q', ...options, source])
  return [...stdout.matchAll(/^\d+: (.+?)(?: \(.*\))?$/gm)].map((match) => match[1]!)
}

function openOptions(format: ExportFormat, { geometryType }: Manifest): string[] {
  if (format !== 'csv' || geometryType === null) return []
  const point = ['-oo', 'X_POSSIBLE_NAMES=longitude', '-oo', 'Y_POSSIBLE_NAMES=latitude']
  return geometryType === 'Point' ? point : ['-oo', 'GEOM_POSSIBLE_NAMES=geometry']
}

async function readWithPython(
  python: string,
  requests: { dataset: Built; format: ExportFormat }[],
): Promise<ReadFeature[][]> {
  const child = spawn(python, [join(import.meta.dirname, 'test-data', 'read_exports.py')])
  child.stdin.end(
    JSON.stringify(
      requests.map(({ dataset, format }) => ({
        format,
        path: dataset.paths[format],
        spatial: dataset.manifest.geometryType !== null,
      })),
    ),
  )
  const [output, problems] = await Promise.all([text(child.stdout), text(child.stderr)])
  assert.notEqual(output, '', problems)
  return parseExactly(output) as ReadFeature[][]
}
