import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startNginx } from '../../scripts/test-servers/nginx.ts'
import type { ThrowAwayServer } from '../../scripts/test-servers/throw-away-server.ts'
import { type Bench, decimal, whole } from './bench.ts'
import { compareBytes } from './measure/compare.ts'
import { generateGeojson } from './measure/generate.ts'
import { startWayleave, type WayleaveServer } from './measure/wayleave-server.ts'

const FEATURES = 1_000_000
const AIMS = { throughput: 0.8, processor: 3, megabytes: 150 }

/** A finished download compared with nginx, which sends the same file by sendfile(2), and its peak memory. */
export const bench: Bench = async (print) => {
  const folder = await mkdtemp(join(tmpdir(), 'wayleave-bench-'))
  const nginx = await startNginx(
    (port) => `sendfile on; server { listen 127.0.0.1:${port}; root ${folder}; }`,
  )
  const server = await startWayleave({ WAYLEAVE_LOG_LEVEL: 'warn' })
  try {
    const source = join(folder, 'places.geojson')
    await generateGeojson(source, { features: FEATURES })
    await server.operate('publish', source, '--table', 'places')
    const headers = { 'x-api-key': await server.createKey(), 'accept-encoding': 'identity' }
    print('Bytes a second as a part of nginx’s, processor time for a byte as a multiple of nginx’s.\n')
    print(
      '| format | MB | connections | ours, MB/s | nginx, MB/s | ratio | aim | processor | aim | peak above idle, MB | aim |',
    )
    print('|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|')
    for (const format of ['geojson', 'csv']) {
      const path = `/v1/dataset/places/files/${format}`
      const file = join(folder, format)
      await writeFile(file, Buffer.from(await (await fetch(server.origin + path, { headers })).arrayBuffer()))
      await requireVerified(server, path, headers)
      for (const connections of [1, 16]) {
        const figures = await compareWithNginx({ server, nginx, path, file: format, headers, connections })
        const megabytes = decimal((await stat(file)).size / 1e6, 0)
        print(`| ${[format, megabytes, connections, ...figures].join(' | ')} |`)
      }
    }
  } finally {
    await server.stop()
    await nginx.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Pair {
  server: WayleaveServer
  nginx: ThrowAwayServer
  path: string
  file: string
  headers: Record<string, string>
  connections: number
}

async function compareWithNginx({
  server,
  nginx,
  path,
  file,
  headers,
  connections,
}: Pair): Promise<string[]> {
  const idle = await residentMegabytes(server.pid)
  const watch = watchMemory(server.pid)
  const load = { connections, seconds: 2 }
  const { ours, theirs, ratio, processorMultiple } = await compareBytes(
    { name: 'wayleave', server, load: { ...load, requests: [{ path, headers }] } },
    {
      name: 'nginx',
      // Its requests are sent by a worker, which is a child of the process that was started.
      server: { origin: nginx.url, pid: childOf(nginx.pid), stop: nginx.stop },
      load: { ...load, requests: [{ path: `/${file}` }] },
    },
  )
  const peak = (await watch()) - idle
  return [
    whole(ours.bytesPerSecond / 1e6),
    whole(theirs.bytesPerSecond / 1e6),
    decimal(ratio),
    `at least ${AIMS.throughput}`,
    decimal(processorMultiple),
    `at most ${AIMS.processor}`,
    decimal(peak, 0),
    `under ${AIMS.megabytes}`,
  ]
}

/** Waits until the verification in the background has read the file, which is sent with checks before. */
async function requireVerified(
  server: WayleaveServer,
  path: string,
  headers: Record<string, string>,
): Promise<void> {
  for (;;) {
    const response = await fetch(server.origin + path, { method: 'HEAD', headers })
    if (response.headers.has('repr-digest')) return
    await delay(200)
  }
}

function childOf(pid: number): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  return Number(child)
}

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)![1]) / 1024
}

/** Samples the memory until the returned function is called, which returns the peak. */
function watchMemory(pid: number): () => Promise<number> {
  let highest = 0
  let done = false
  const watching = (async () => {
    while (!done) {
      highest = Math.max(highest, await residentMegabytes(pid))
      await delay(50)
    }
  })()
  return async () => {
    done = true
    await watching
    return highest
  }
}
