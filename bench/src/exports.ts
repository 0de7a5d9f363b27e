import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compileInChildProcess } from '@wayleave/geodata/compile'
import { type Bench, decimal } from './bench.ts'
import { generateGeojson } from './measure/generate.ts'
import { type Measured, runMeasured } from './measure/measured-process.ts'

const FEATURES = 1_000_000
const ROUNDS = 1

/** How many times faster than ogr2ogr, by the clock. */
const AIM = 4

/** Where the service keeps compiled code. */
const COMPILED = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../server/.cache/modules', import.meta.url)),
}

/** Our format and ogr2ogr's arguments. It has no JSON rows; its GeoJSON is the closest format. */
const FORMATS: { format: string; extension: string; arguments: string[]; aim?: number }[] = [
  { format: 'csv', extension: 'csv', arguments: ['-f', 'CSV'] },
  { format: 'json', extension: 'geojson', arguments: ['-f', 'GeoJSON'] },
  { format: 'geojson', extension: 'geojson', arguments: ['-f', 'GeoJSON'] },
  { format: 'kml', extension: 'kml', arguments: ['-f', 'KML'], aim: AIM },
  { format: 'shp', extension: 'shp.zip', arguments: ['-f', 'ESRI Shapefile'] },
  { format: 'gpkg', extension: 'gpkg', arguments: ['-f', 'GPKG'], aim: AIM },
  { format: 'fgb', extension: 'fgb', arguments: ['-f', 'FlatGeobuf'], aim: AIM },
]

export const bench: Bench = async (print) => {
  const folder = await mkdtemp(join(tmpdir(), 'wayleave-bench-'))
  try {
    for (const shape of ['point', 'polygon'] as const) await benchShape(folder, shape, print)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function benchShape(
  folder: string,
  shape: 'point' | 'polygon',
  print: (line: string) => void,
): Promise<void> {
  const features = shape === 'point' ? FEATURES : FEATURES / 10
  const source = join(folder, `${shape}.geojson`)
  const snapshot = join(folder, `${shape}.snapshot`)
  const geopackage = join(folder, `${shape}.gpkg`)
  // Points have ids of their own, which are not in the order of the snapshot.
  await generateGeojson(source, { features, shape, hasIds: shape === 'point' })
  await compileInChildProcess({ path: source, folder: snapshot })
  await rm(source)
  await runMeasured(process.execPath, [builder, snapshot, 'gpkg', geopackage])
  const small = await smallSnapshot(folder, shape)

  print(
    `${features.toLocaleString('en-US')} ${shape}s: building a format from the snapshot, against ogr2ogr from a`,
  )
  print('GeoPackage of the same data. Times faster by the clock, and by processor time.\n')
  print('| format | ours, s | ogr2ogr, s | faster | aim | by processor | ours, MB | ogr2ogr, MB |')
  print('|---|--:|--:|--:|--:|--:|--:|--:|')
  for (const { format, extension, arguments: options, aim } of FORMATS) {
    const out = join(folder, `out.${extension}`)
    const fresh = async (command: string, args: string[]) => {
      await rm(out, { recursive: true, force: true })
      return runMeasured(command, args, { environment: COMPILED })
    }
    await fresh(process.execPath, [builder, small, format, out])
    const ours = await best(() => fresh(process.execPath, [builder, snapshot, format, out]))
    // ogr2ogr writes CSV without coordinates unless this option is given.
    const csv = ['-lco', shape === 'point' ? 'GEOMETRY=AS_XY' : 'GEOMETRY=AS_WKT']
    const all = ['-q', ...options, ...(format === 'csv' ? csv : []), out, geopackage]
    const theirs = await best(() => fresh('ogr2ogr', all))
    await rm(out, { recursive: true, force: true })
    const cells = [
      format,
      decimal(ours.seconds),
      decimal(theirs.seconds),
      decimal(theirs.seconds / ours.seconds, 1),
      aim === undefined ? '' : `at least ${aim}`,
      decimal(theirs.processorSeconds / ours.processorSeconds, 1),
      decimal(ours.peakMegabytes, 0),
      decimal(theirs.peakMegabytes, 0),
    ]
    print(`| ${cells.join(' | ')} |`)
  }
  print('')
}

/** Its formats are built first, so that the code that the measured process needs is compiled, as in a service. */
async function smallSnapshot(folder: string, shape: 'point' | 'polygon'): Promise<string> {
  const source = join(folder, `small-${shape}.geojson`)
  const snapshot = join(folder, `small-${shape}.snapshot`)
  await generateGeojson(source, { features: 1000, shape, hasIds: shape === 'point' })
  await compileInChildProcess({ path: source, folder: snapshot })
  return snapshot
}

const builder = fileURLToPath(new URL('./export-process.ts', import.meta.url))

async function best(measure: () => Promise<Measured>): Promise<Measured> {
  let fastest = await measure()
  for (let round = 1; round < ROUNDS; round++) {
    const next = await measure()
    if (next.seconds < fastest.seconds) fastest = next
  }
  return fastest
}
