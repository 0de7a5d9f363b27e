import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Bench, decimal, whole } from './bench.ts'
import { compare, type Side } from './measure/compare.ts'
import { generateGeojson } from './measure/generate.ts'
import { load } from './measure/load.ts'
import { figuresOf } from './measure/process-figures.ts'
import { startWayleave, type WayleaveServer } from './measure/wayleave-server.ts'

const FEATURES = 1_000_000
const TABLE = 'points'
const ITEMS = `/v1/ogc/collections/${TABLE}/items`
/** The number of different boxes, which are requested in turn. */
const BOXES = 200
/** Enough that every thread gets some. */
const CONNECTIONS = 32
/** Two for the threads, and two for the load and everything else. */
const CORES_TO_PIN = 4
/** Each thread compiles the code for itself: without this, the first row would be about that. */
const WARM_UP_SECONDS = 4
const FILTERS = ["kind = 'well' AND value < 0.5", 'population < 5000', 'active = true']

interface Loaded {
  server: WayleaveServer
  headers: Record<string, string>
}

/** Two serving threads against one: the rate, the processor time of a request, and the memory after the same load. */
export const bench: Bench = async (print) => {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-threads-'))
  const file = join(folder, 'points.geojson')
  const servers: Loaded[] = []
  try {
    await generateGeojson(file, { features: FEATURES })
    for (const threads of [1, 2]) servers.push(await open(threads, file))
    rmSync(file)
    const isPinned = pin(servers.map(({ server }) => server.pid))
    const [one, two] = servers as [Loaded, Loaded]
    for (const loaded of servers) await warmUp(loaded)
    print(`${whole(FEATURES)} points, ${CONNECTIONS} connections${isPinned ? ', pinned to cores' : ''}.\n`)
    print('| requests | one thread, a second | two threads, a second | rate | per second of processor time |')
    print('|---|--:|--:|--:|--:|')
    for (const [name, paths] of Object.entries(requests())) {
      const { ours, theirs, ratio, processorRatio } = await compare(side(two, paths), side(one, paths))
      const rates = [theirs, ours].map(({ requestsPerSecond }) => whole(requestsPerSecond))
      print(`| ${name} | ${rates.join(' | ')} | ${decimal(ratio)} | ${decimal(processorRatio)} |`)
    }
    print('\nAims: at least 1.5 times the rate, and 0.85 for each second of processor time.\n')
    for (const loaded of servers) await useColumns(loaded)
    const [first, second] = servers.map(({ server }) => figuresOf(server.pid).megabytes)
    print(
      `Memory after the same load, and filters on three columns: ${whole(first!)} MB with one thread, ${whole(second!)} MB with two, ${decimal(second! / first!)} times as much (aim: 1.25).`,
    )
  } finally {
    for (const { server } of servers) await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function open(threads: number, file: string): Promise<Loaded> {
  const server = await startWayleave({ WAYLEAVE_THREADS: String(threads) })
  await server.operate('publish', file, '--table', TABLE)
  return { server, headers: { 'x-api-key': await server.createKey() } }
}

async function warmUp({ server, headers }: Loaded): Promise<void> {
  for (const paths of Object.values(requests())) {
    const order = { connections: CONNECTIONS, requests: paths.map((path) => ({ path, headers })) }
    await load({ ...order, origin: server.origin, seconds: WARM_UP_SECONDS, warmUpSeconds: 0 })
  }
}

function side({ server, headers }: Loaded, paths: string[]): Side {
  const requests = paths.map((path) => ({ path, headers }))
  return { name: 'wayleave', server, load: { connections: CONNECTIONS, requests } }
}

function requests(): Record<string, string[]> {
  const page = (limit: number) => boxes().map((box) => `${ITEMS}?limit=${limit}&bbox=${box}`)
  return {
    'pages of 10 by box': page(10),
    'pages of 1,000 by box': page(1000),
    // The ids are row numbers, from 1.
    'single features': Array.from({ length: BOXES }, (_, i) => `${ITEMS}/${1 + i * 997}`),
  }
}

/** Every thread loads the columns: new connections are spread over all of them. */
async function useColumns({ server, headers }: Loaded): Promise<void> {
  for (let round = 0; round < 16; round++) {
    for (const filter of FILTERS) {
      const path = `${ITEMS}?limit=10&filter=${encodeURIComponent(filter)}`
      const response = await fetch(new URL(path, server.origin), {
        headers: { ...headers, connection: 'close' },
      })
      if (response.status !== 200) throw new Error(`${path} responded with ${response.status}`)
      await response.bytes()
    }
  }
}

/** Boxes of one size all over the world, the same in every run. */
function boxes(): string[] {
  let state = 7
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  return Array.from({ length: BOXES }, () => {
    const west = -180 + random() * 340
    const south = -80 + random() * 150
    return [west, south, west + 20, south + 10].map((value) => value.toFixed(3)).join(',')
  })
}

/** Keeps the servers and the load on cores of their own, if there are enough. The load inherits those of this process. */
function pin(servers: number[]): boolean {
  const cores = availableParallelism()
  if (cores < CORES_TO_PIN) return false
  for (const pid of servers) execFileSync('taskset', ['-acp', '0,1', String(pid)], { stdio: 'ignore' })
  execFileSync('taskset', ['-acp', `2-${cores - 1}`, String(process.pid)], { stdio: 'ignore' })
  return true
}
