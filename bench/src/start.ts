import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Bench, decimal } from './bench.ts'
import { median } from './measure/median.ts'
import { figuresOf } from './measure/process-figures.ts'

const root = join(import.meta.dirname, '../..')
/** Inside the checkout, because the program finds its native parts in node_modules. */
const built = join(root, '.cache', 'bench-program')
const STARTS = 5
const TABLE = 'earthquakes'

/** The processor time of a start with the demo's data until the first response, and of the first tiles after it. */
export const bench: Bench = async (print) => {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-start-'))
  const dataDir = join(folder, 'data')
  const programs = {
    'checkout (`npm start`)': [join(root, 'scripts', 'start.ts')],
    'built program': [join(built, 'server', 'bin', 'wayleave.js'), 'serve'],
  }
  try {
    execFileSync(process.execPath, [join(root, 'scripts', 'program', 'main.ts'), built], { stdio: 'ignore' })
    const key = await prepare(dataDir, folder)
    print('| program | start, s | first tile, s | first filtered tile, s |')
    print('|---|--:|--:|--:|')
    for (const [name, command] of Object.entries(programs)) {
      // The first start fills the cache of compiled modules.
      await measure(command, dataDir, folder, key)
      const starts: Start[] = []
      for (let i = 0; i < STARTS; i++) starts.push(await measure(command, dataDir, folder, key))
      const figure = (part: keyof Start) => decimal(median(starts.map((start) => start[part])))
      print(`| ${name} | ${figure('start')} | ${figure('tile')} | ${figure('filtered')} |`)
    }
    print('\nProcessor time. Aims: 0.80 s until the first response, 0.10 s for the first tile.')
  } finally {
    rmSync(folder, { recursive: true, force: true })
    rmSync(built, { recursive: true, force: true })
  }
}

interface Start {
  start: number
  tile: number
  filtered: number
}

async function measure(command: string[], dataDir: string, folder: string, key: string): Promise<Start> {
  const { server, url } = await start([...command, '--json', '--port', '0', '--data-dir', dataDir], folder)
  const figure = () => figuresOf(server.pid!).processorSeconds
  try {
    await get(`${url}/v1/ogc`, key)
    const started = figure()
    const tile = `${url}/v1/ogc/collections/${TABLE}/tiles/WebMercatorQuad/1/0/0`
    await get(tile, key)
    const stored = figure()
    await get(`${tile}?filter=${encodeURIComponent('mag > 5')}`, key)
    return { start: started, tile: stored - started, filtered: figure() - stored }
  } finally {
    await stop(server)
  }
}

/** Publishes the demo's data, builds its tiles, and returns a key that reads it. */
async function prepare(dataDir: string, folder: string): Promise<string> {
  const program = [join(built, 'server', 'bin', 'wayleave.js')]
  const { server, url } = await start(
    [...program, 'serve', '--demo', '--json', '--port', '0', '--data-dir', dataDir],
    folder,
  )
  try {
    const create = [...program, 'key', 'create', '--platform', '--name', 'Bench', '--permissions', 'read']
    const args = [...create, '--json', '--data-dir', dataDir]
    const { secret } = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as {
      secret: string
    }
    for (let state: string | undefined; state !== 'ready'; await delay(1000)) {
      const response = await fetch(`${url}/v1/dataset/${TABLE}`, { headers: { 'x-api-key': secret } })
      // Without tiles if the dataset is not published yet.
      state = ((await response.json()) as { tiles?: { state: string } }).tiles?.state
    }
    return secret
  } finally {
    await stop(server)
  }
}

async function start(args: string[], folder: string): Promise<{ server: ChildProcess; url: string }> {
  const log = join(folder, 'log')
  const output = openSync(log, 'w')
  const server = spawn(process.execPath, args, { stdio: ['ignore', output, output] })
  closeSync(output)
  for (;;) {
    const url = /^\{"url":"([^"]+)"/m.exec(readFileSync(log, 'utf8'))?.[1]
    if (url) return { server, url }
    if (server.exitCode !== null) throw new Error(`The service did not start:\n${readFileSync(log, 'utf8')}`)
    await delay(10)
  }
}

async function stop(server: ChildProcess): Promise<void> {
  const exited = once(server, 'exit')
  server.kill('SIGTERM')
  await exited
}

async function get(url: string, key: string): Promise<void> {
  const response = await fetch(url, { headers: { 'x-api-key': key } })
  await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`${url} is ${response.status}`)
}
