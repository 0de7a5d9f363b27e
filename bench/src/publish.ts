import { execFile } from 'node:child_process'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { compileNodeFlags } from '@wayleave/geodata/compile'
import { type Bench, decimal, whole } from './bench.ts'
import { generateGeojson } from './measure/generate.ts'
import { type Measured, runMeasured } from './measure/measured-process.ts'
import { benchAgainst } from './publish-against.ts'
import { benchChanges, benchPostgis } from './publish-sources.ts'

const FEATURES = 1_000_000
/** To test whether memory grows with the file. */
const LARGE_FEATURES = 5_000_000
const POLYGONS = 300_000

const compiler = fileURLToPath(new URL('./publish-process.ts', import.meta.url))
const exporter = fileURLToPath(new URL('./export-process.ts', import.meta.url))

/** Publishing compared with `ogr2ogr -f GPKG` of the same file, and its peak memory; or with another checkout. */
export const bench: Bench = (print, { against }) =>
  against === undefined ? benchPublish(print) : benchAgainst(print, against)

async function benchPublish(print: (line: string) => void): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'wayleave-bench-'))
  try {
    const geojson = join(folder, 'places.geojson')
    const csv = join(folder, 'places.csv')
    const snapshot = join(folder, 'GeoJSON')
    await generateGeojson(geojson, { features: FEATURES })
    print(
      `${whole(FEATURES)} points to a snapshot, against ogr2ogr -f GPKG of the same file. Times faster by the`,
    )
    print('clock (aim: at least 2.5), and by processor time; the aim for memory is below 1,000 MB.\n')
    print('| file | MB | ours, s | ogr2ogr, s | faster | by processor | ours, MB | ogr2ogr, MB |')
    print('|---|--:|--:|--:|--:|--:|--:|--:|')
    const small: Measured[] = []
    small.push(await compare(print, 'GeoJSON', geojson, folder, []))
    await runMeasured(process.execPath, [exporter, snapshot, 'csv', csv])
    small.push(
      await compare(print, 'CSV', csv, folder, [
        ...['-oo', 'X_POSSIBLE_NAMES=longitude', '-oo', 'Y_POSSIBLE_NAMES=latitude'],
        ...['-oo', 'AUTODETECT_TYPE=YES', '-oo', 'KEEP_GEOM_COLUMNS=NO', '-a_srs', 'EPSG:4326'],
      ]),
    )
    small.push(await compare(print, 'GeoParquet', join(snapshot, 'rows.parquet'), folder, []))
    await generateGeojson(geojson, { features: POLYGONS, shape: 'polygon' })
    await compare(print, `${whole(POLYGONS)} polygons`, geojson, folder, [])
    await measureLarge(print, folder, small)
    await benchPostgis(print, folder)
    await benchChanges(print, folder, publish)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The same formats with five times as many points. The goal is that memory does not grow in proportion. */
async function measureLarge(print: (line: string) => void, folder: string, small: Measured[]): Promise<void> {
  const snapshot = join(folder, 'large')
  const paths = [join(folder, 'large.geojson'), join(folder, 'large.csv'), join(snapshot, 'rows.parquet')]
  await generateGeojson(paths[0]!, { features: LARGE_FEATURES })
  print(`\n| ${whole(LARGE_FEATURES)} points | s | MB of memory | of that for ${whole(FEATURES)} |`)
  print('|---|--:|--:|--:|')
  for (const [i, name] of ['GeoJSON', 'CSV', 'GeoParquet'].entries()) {
    if (name === 'CSV') await runMeasured(process.execPath, [exporter, snapshot, 'csv', paths[i]!])
    const { seconds, peakMegabytes } = await publish(
      paths[i]!,
      i === 0 ? snapshot : join(folder, `large${i}`),
    )
    const growth = decimal(peakMegabytes / small[i]!.peakMegabytes, 2)
    print(`| ${name} | ${decimal(seconds, 1)} | ${whole(peakMegabytes)} | ${growth} |`)
    if (i > 0) await rm(join(folder, `large${i}`), { recursive: true })
  }
}

async function compare(
  print: (line: string) => void,
  name: string,
  path: string,
  folder: string,
  gdalOptions: string[],
): Promise<Measured> {
  const { size } = await stat(path)
  const ours = await publish(path, join(folder, name))
  const cells = [name, whole(size / 1e6), decimal(ours.seconds, 1)]
  if (await gdalReads(path)) {
    const geopackage = join(folder, `${name}.gpkg`)
    const theirs = await runMeasured('ogr2ogr', ['-q', '-f', 'GPKG', ...gdalOptions, geopackage, path])
    await rm(geopackage)
    cells.push(
      decimal(theirs.seconds, 1),
      decimal(theirs.seconds / ours.seconds, 1),
      decimal(theirs.processorSeconds / ours.processorSeconds, 1),
      whole(ours.peakMegabytes),
      whole(theirs.peakMegabytes),
    )
  } else cells.push('cannot read it', '', '', whole(ours.peakMegabytes), '')
  print(`| ${cells.join(' | ')} |`)
  return ours
}

function publish(path: string, folder: string): Promise<Measured> {
  return runMeasured(process.execPath, [...compileNodeFlags(), compiler, path, folder])
}

/** Debian's GDAL is built without Parquet. */
async function gdalReads(path: string): Promise<boolean> {
  return promisify(execFile)('ogrinfo', ['-ro', '-so', path]).then(
    () => true,
    () => false,
  )
}
