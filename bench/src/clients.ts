import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { demoDatasets } from '@wayleave/demo/demo-datasets.ts'
import { type Bench, decimal, whole } from './bench.ts'
import { startWayleave, type WayleaveServer } from './measure/wayleave-server.ts'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

/** The measurements, in one process and in turns, so that both sides have the same conditions. */
const script = `
import json, os, sys, time
import geopandas, wayleave

path = sys.argv[1]
client = wayleave.Client(timeout=600)
client.download("places", "geojson", path)
ways = {
    "read": lambda: client.read("places"),
    "read_geojson": lambda: client.read("places", format="geojson"),
    "read_table": lambda: client.read_table("places"),
    "read_file": lambda: geopandas.read_file(path),
}
best = {}
for turn in range(4):
    for name, way in ways.items():
        started = time.perf_counter()
        rows = len(way())
        taken = time.perf_counter() - started
        # The first turn builds what is built once: exports on the server, modules here.
        if turn > 0:
            best[name] = min(taken, best.get(name, taken))
print(json.dumps({"rows": rows, "megabytes": os.path.getsize(path) / 1e6, **best}))
`

interface Measured {
  rows: number
  megabytes: number
  read: number
  read_geojson: number
  read_table: number
  read_file: number
}

/** The Python client over HTTP, compared with geopandas reading the same data from a file on disk. */
export const bench: Bench = async (print) => {
  const python = process.env['WAYLEAVE_TEST_PYTHON'] ?? join(root, '.cache/venv/bin/python')
  if (!existsSync(python)) return print('It needs the Python environment of the tests: run npm test once.')
  const folder = await mkdtemp(join(tmpdir(), 'wayleave-bench-'))
  const server = await startWayleave()
  try {
    const { rows, megabytes, ...seconds } = await measure(python, folder, server)
    print(`${whole(rows)} places (${whole(megabytes)} MB of GeoJSON) to a geodataframe, best of three.\n`)
    print('| way | s | times as fast as read_file |')
    print('|---|--:|--:|')
    const row = (name: string, duration: number) =>
      print(`| ${name} | ${decimal(duration)} | ${decimal(seconds.read_file / duration)} |`)
    row('client.read()', seconds.read)
    row('client.read(format="geojson")', seconds.read_geojson)
    row('client.read_table()', seconds.read_table)
    row('geopandas.read_file() of the file on disk', seconds.read_file)
    print('\nThe aim is at least 1.0 for read().')
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function measure(python: string, folder: string, server: WayleaveServer): Promise<Measured> {
  const places = demoDatasets.find(({ table }) => table === 'places')!
  const source = join(folder, places.file)
  await places.write(source)
  await server.operate('publish', source, '--table', 'places')
  const env = {
    ...process.env,
    PYTHONPATH: join(root, 'client-python/src'),
    WAYLEAVE_API_KEY: await server.createKey(),
    WAYLEAVE_BASE_URL: server.origin,
  }
  const { stdout } = await run(python, ['-c', script, join(folder, 'places.geojson')], { env })
  return JSON.parse(stdout)
}
