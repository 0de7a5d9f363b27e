import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import type { Drill } from '../drill.ts'
import { Installation } from '../environment/installation.ts'
import { waitUntil } from '../environment/processes.ts'
import { publishAndWait } from '../load/dataset-operations.ts'
import { type Response, request } from '../load/http-client.ts'
import { openWorld, type World } from '../world.ts'
import { restart } from './kills.ts'

const PUBLISHINGS = { long: 3, short: 2 }
/** Files that are damaged at once. */
const FILES = 2
const FORMATS = ['geojson', 'csv', 'json', 'kml', 'geoparquet']

/**
 * Bytes of snapshot files are flipped, or files are truncated: a response is correct or an error, never wrong
 * data with 200.
 */
export const drill: Drill = {
  title: 'random bytes of snapshot files are flipped or cut off',
  rounds: { long: 150, short: 1 },
  maxMinutes: 60,
  coveredBy: 'server/src/data/catalog/damage.test.ts',
  async run(run) {
    const installation = new Installation(run)
    await installation.startNode()
    const world = await openWorld(installation, { tables: 2 })
    world.maxRows = run.short ? 300 : 3000
    const pristine = new Pristine(world)
    for (let i = 0; i < PUBLISHINGS[run.short ? 'short' : 'long']; i++) {
      await publishAndWait(world)
      await pristine.record()
    }
    const snapshots = join(installation.dataDir, 'snapshots')
    while (run.nextRound()) {
      const files = run.random.sample(filesIn(snapshots), FILES)
      // A running server has the files open and parts of them in memory; a starting server reads them first.
      const isRunning = run.random.chance(0.5)
      if (!isRunning) await installation.killAll()
      const originals = files.map((file) => readFileSync(file))
      const damage = files.map((file) => {
        const name = relative(snapshots, file).replace(/^[^/]+/, '…')
        return `${damageFile(world, file)} of ${name}`
      })
      if (!isRunning) await restart(world, 1)
      await pristine.expectNoWrongBytes(damage.join(' and '))
      for (const [i, file] of files.entries()) writeFileSync(file, originals[i]!)
      await installation.killAll()
      await restart(world, 1)
      await pristine.expectAll()
    }
  },
}

/** The responses to a list of requests before anything was damaged. */
class Pristine {
  readonly #world: World
  /** By path: the bodies of all versions that have been current, newest last. */
  readonly #bodies = new Map<string, Buffer[]>()

  constructor(world: World) {
    this.#world = world
  }

  async record(): Promise<void> {
    for (const path of this.#paths()) {
      const { status, bytes } = await this.#get(path)
      if (status !== 200) throw new Error(`${path} got ${status} before anything was damaged.`)
      const bodies = this.#bodies.get(path) ?? []
      this.#bodies.set(path, bodies)
      if (!bodies.some((body) => body.equals(bytes))) bodies.push(bytes)
    }
  }

  /** If a version is damaged, an older intact version may be served instead. */
  async expectNoWrongBytes(damage: string): Promise<void> {
    for (const [path, bodies] of this.#bodies) {
      const { status, bytes, body } = await this.#get(path)
      const isRight = status !== 200 || bodies.some((pristineBody) => pristineBody.equals(bytes))
      const { run } = this.#world
      run.expect(isRight, 'no damaged bytes are served as 200', `${generic(path)} after ${damage}`)
      const promised = 'damage is told as 503 data-damaged'
      const isTold = status === 200 || status === 0 || (status === 503 && body?.code === 'data-damaged')
      run.expect(isTold, promised, `${status} ${body?.code} for ${generic(path)} after ${damage}`)
    }
  }

  /** After the file is repaired and the server is restarted, everything is served as before. */
  async expectAll(): Promise<void> {
    for (const [path, bodies] of this.#bodies) {
      let last: Response | null = null
      const isRestored = async () => {
        last = await this.#get(path)
        return last.status === 200 && last.bytes.equals(bodies.at(-1)!)
      }
      const holds = await waitUntil(isRestored, 10_000, 250)
      const promised = 'a file that is whole again is served after a restart'
      this.#world.run.expect(holds, promised, `${last!.status} for ${generic(path)}`)
    }
  }

  #paths(): string[] {
    return this.#world.promises.tables
      .filter(({ versions }) => versions.length > 0)
      .flatMap(({ table, versions }) => [
        ...FORMATS.map((format) => `/v1/dataset/${table}/files/${format}`),
        `/v1/dataset/${table}/sample/json`,
        `/v1/ogc/collections/${table}/items?limit=20`,
        `/v1/ogc/collections/${table}/items?limit=10000`,
        `/v1/ogc/collections/${table}/items?bbox=-60,-45,60,45&limit=500`,
        `/v1/ogc/collections/${table}/items?filter=value%3E500000&limit=500`,
        ...versions
          .slice(0, -1)
          .map(({ version }) => `/v1/dataset/${table}/archives/${version}/files/geojson`),
      ])
  }

  async #get(path: string): Promise<Response> {
    this.#world.run.operations++
    const [node] = this.#world.installation.nodes
    const response = await request(node!.url, 'GET', path, { key: this.#world.promises.platformKey })
    return { ...response, bytes: withoutVolatileParts(path, response.bytes) }
  }
}

/** Removes from pages of features what changes: the response's time and the server's address. */
function withoutVolatileParts(path: string, bytes: Buffer): Buffer {
  if (!path.includes('/items')) return bytes
  const text = bytes.toString('latin1')
  return Buffer.from(
    text
      .replace(/"timeStamp":"[^"]*"/, '"timeStamp":""')
      .replace(/http:\/\/127\.0\.0\.1:\d+/g, 'http://server'),
    'latin1',
  )
}

function generic(path: string): string {
  return path.replace(/table_\d+/, '…').replace(/archives\/\d+/, 'archives/…')
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('lock'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

/** Changes the file in place, as a failing disk does: the inode stays the same. */
function damageFile(world: World, path: string): string {
  const { random } = world.run
  const { size } = statSync(path)
  if (size === 0) return 'nothing'
  if (random.chance(0.25)) {
    truncateSync(path, random.integer(0, size - 1))
    return 'a truncation'
  }
  const file = openSync(path, 'r+')
  const position = random.integer(0, size - 1)
  const byte = Buffer.alloc(1)
  readSync(file, byte, 0, 1, position)
  byte[0]! ^= 1 << random.integer(0, 7)
  writeSync(file, byte, 0, 1, position)
  fsyncSync(file)
  closeSync(file)
  return 'a flipped bit'
}
