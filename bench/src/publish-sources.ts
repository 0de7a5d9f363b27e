import { createReadStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { startPostgres } from '../../scripts/test-servers/postgres.ts'
import { decimal, whole } from './bench.ts'
import { generateGeojson } from './measure/generate.ts'
import { type Measured, runMeasured } from './measure/measured-process.ts'

const POINTS = 1_000_000
/** One in so many features differs between the two versions. */
const CHANGED = 100

const wayleave = fileURLToPath(new URL('../../server/bin/wayleave.js', import.meta.url))
const comparer = fileURLToPath(new URL('./changes-process.ts', import.meta.url))

type Publish = (path: string, folder: string) => Promise<Measured>

/** `wayleave publish postgres://…` compared with `ogr2ogr -f GPKG` from the same table. */
export async function benchPostgis(print: (line: string) => void, folder: string): Promise<void> {
  const server = await startPostgres()
  try {
    await fillTable(server.url)
    const environment = {
      WAYLEAVE_ALLOW_INTERNAL_ADDRESSES: 'true',
      WAYLEAVE_DATA_DIR: join(folder, 'data'),
    }
    const args = [
      'publish',
      server.url,
      '--source-table',
      'points',
      '--table',
      'points',
      '--id-column',
      'number',
    ]
    const ours = await runMeasured(process.execPath, [wayleave, ...args], { environment, isTree: true })
    const geopackage = join(folder, 'postgis.gpkg')
    const theirs = await runMeasured('ogr2ogr', [
      '-q',
      '-f',
      'GPKG',
      geopackage,
      connectionOf(server.url),
      'points',
    ])
    await rm(geopackage)
    print(
      `\n| ${whole(POINTS)} points of PostGIS | ours, s | ogr2ogr, s | faster (aim: 2.5) | by processor |`,
    )
    print('|---|--:|--:|--:|--:|')
    const faster = decimal(theirs.seconds / ours.seconds, 1)
    const byProcessor = decimal(theirs.processorSeconds / ours.processorSeconds, 1)
    print(
      `| to a version | ${decimal(ours.seconds, 1)} | ${decimal(theirs.seconds, 1)} | ${faster} | ${byProcessor} |`,
    )
  } finally {
    await server.stop()
  }
}

/** The changes between two versions of which one feature in a hundred differs. */
export async function benchChanges(
  print: (line: string) => void,
  folder: string,
  publish: Publish,
): Promise<void> {
  const [first, second] = [join(folder, 'first.geojson'), join(folder, 'second.geojson')]
  await generateGeojson(first, { features: POINTS, hasIds: true })
  await changeSome(first, second)
  const snapshots = [join(folder, 'first'), join(folder, 'second')] as const
  await publish(first, snapshots[0])
  await publish(second, snapshots[1])
  print(
    `\n| changes of 1 % of ${whole(POINTS)} features | s (aim: below 5) | s of processor | MB (aim: below 1,000) |`,
  )
  print('|---|--:|--:|--:|')
  for (const format of ['ndjson', 'geoparquet']) {
    const args = [comparer, ...snapshots, format, join(folder, `changes.${format}`)]
    const { seconds, processorSeconds, peakMegabytes } = await runMeasured(process.execPath, args)
    print(
      `| ${format} | ${decimal(seconds, 1)} | ${decimal(processorSeconds, 1)} | ${whole(peakMegabytes)} |`,
    )
  }
}

/** As GDAL takes it. */
function connectionOf(url: string): string {
  const { hostname, port, username, password, pathname } = new URL(url)
  return `PG:host=${hostname} port=${port} user=${username} password=${password} dbname=${pathname.slice(1)}`
}

async function fillTable(url: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query('CREATE EXTENSION postgis')
  await client.query('SELECT setseed(0.5)')
  await client.query(`CREATE UNLOGGED TABLE points AS
    SELECT n AS number, 'Place ' || n AS name, (ARRAY['hotel', 'school', 'shop', 'bridge'])[1 + n % 4] AS kind,
      (random() * 1e6)::int AS population, random() * 1000 AS value, random() < 0.5 AS active,
      timestamptz '2020-01-01' + random() * interval '1000 days' AS updated,
      (date '2000-01-01' + (random() * 7000)::int) AS opened,
      ST_SetSRID(ST_MakePoint(random() * 359 - 179.5, random() * 169 - 84.5), 4326)::geometry(Point, 4326) AS geom
    FROM generate_series(1, ${POINTS}) n`)
  await client.query('VACUUM ANALYZE points')
  await client.end()
}

/** Copies features: one in a hundred gets another name, and one in a thousand is left out. */
async function changeSome(from: string, to: string): Promise<void> {
  const file = await open(to, 'w')
  let row = 0
  let batch: string[] = []
  for await (const line of createInterface({ input: createReadStream(from) })) {
    row++
    if (row % (CHANGED * 10) === 7) continue
    batch.push(row % CHANGED === 5 ? line.replace('"name":"', '"name":"New ') : line)
    if (batch.length < 5000) continue
    await file.write(`${batch.join('\n')}\n`)
    batch = []
  }
  await file.write(`${batch.join('\n')}\n`)
  await file.close()
}
