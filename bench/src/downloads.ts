import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Bench, decimal, whole } from './bench.ts'
import { startBareServer } from './measure/bare-server.ts'
import { compare } from './measure/compare.ts'
import { generateGeojson } from './measure/generate.ts'
import { startWayleave } from './measure/wayleave-server.ts'

const FEATURES = 1_000_000

/** A finished download compared with a bare static server that sends the same file, and its peak memory. */
export const bench: Bench = async (print) => {
  const folder = await mkdtemp(join(tmpdir(), 'wayleave-bench-'))
  const server = await startWayleave({ WAYLEAVE_LOG_LEVEL: 'warn' })
  try {
    const source = join(folder, 'places.geojson')
    await generateGeojson(source, { features: FEATURES })
    await server.operate('publish', source, '--table', 'places')
    const headers = {
      'x-api-key': await server.createKey(),
      'accept-encoding': 'identity',
    }
    print('| format | MB | ours, MB/s | bare, MB/s | ratio | by processor | peak above idle, MB |')
    print('|---|--:|--:|--:|--:|--:|--:|')
    for (const format of ['geojson', 'csv']) {
      const path = `/v1/dataset/places/files/${format}`
      const file = join(folder, format)
      await writeFile(file, Buffer.from(await (await fetch(server.origin + path, { headers })).arrayBuffer()))
      const bare = await startBareServer({ file })
      try {
        await delay(500)
        const idle = await residentMegabytes(server.pid)
        const watch = watchMemory(server.pid)
        const load = { connections: 4, seconds: 2, requests: [{ path, headers }] }
        const result = await compare(
          { name: 'wayleave', server, load },
          { name: 'node:http', server: bare, load },
        )
        const peak = (await watch()) - idle
        const figures = [
          decimal((await stat(file)).size / 1e6, 0),
          whole(result.ours.bytesPerSecond / 1e6),
          whole(result.theirs.bytesPerSecond / 1e6),
          decimal(result.ratio),
          decimal(result.processorRatio),
          decimal(peak, 0),
        ]
        print(`| ${format} | ${figures.join(' | ')} |`)
      } finally {
        await bare.stop()
      }
    }
    print('\naims: at least 0.8 of the bare server’s bytes a second; under 150 MB above idle')
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
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
