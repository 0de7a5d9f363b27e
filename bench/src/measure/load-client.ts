/** The load generator process. It receives one order, sends one result, and exits. */
import { connect, type Socket } from 'node:net'
import type { LoadOrder, LoadResult } from './load.ts'
import { ResponseReader } from './response-reader.ts'

process.once('message', (order: LoadOrder) => {
  run(order).then((result) => {
    process.send!(result, () => process.disconnect())
  })
})

async function run({
  origin,
  requests,
  connections,
  seconds,
  warmUpSeconds,
}: LoadOrder): Promise<LoadResult> {
  const { hostname, port } = new URL(origin)
  const prepared = requests.map(({ path, method = 'GET', headers = {} }) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    return Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${lines.join('')}\r\n`)
  })
  let next = 0
  let ended = false
  let counts = newCounts()
  const fail = (reason: string | number) => {
    counts.errorCounts[reason] = (counts.errorCounts[reason] ?? 0) + 1
  }
  let latencies: number[] = []
  const sockets = new Set<Socket>()

  const open = () => {
    let sentAt = 0
    const send = () => {
      if (ended) return
      sentAt = performance.now()
      socket.write(prepared[next++ % prepared.length]!)
    }
    const reader = new ResponseReader((status) => {
      if (status >= 200 && status < 400) counts.requests++
      else fail(status)
      latencies.push(performance.now() - sentAt)
      send()
    })
    const buffer = Buffer.allocUnsafeSlow(128 * 1024)
    // One read buffer per connection; without it, large responses cost the client more than the server.
    const onread = {
      buffer,
      callback: (length: number) => {
        counts.bytes += length
        try {
          reader.take(buffer.subarray(0, length))
        } catch (error) {
          fail((error as Error).message)
          socket.destroy()
        }
        return true
      },
    }
    const socket = connect({ host: hostname, port: Number(port), noDelay: true, onread }, send)
    sockets.add(socket)
    socket.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message))
    socket.on('close', () => {
      sockets.delete(socket)
      // If a server closes connections, the cost of reopening them is part of the measurement.
      if (!ended) setTimeout(open, 10)
    })
  }

  for (let i = 0; i < connections; i++) open()
  await sleep(warmUpSeconds)
  counts = newCounts()
  latencies = []
  const started = performance.now()
  await sleep(seconds)
  const elapsed = (performance.now() - started) / 1000
  ended = true
  const sorted = Float64Array.from(latencies).sort()
  const result = {
    requestsPerSecond: counts.requests / elapsed,
    bytesPerSecond: counts.bytes / elapsed,
    errors: Object.values(counts.errorCounts).reduce((sum, count) => sum + count, 0),
    errorCounts: counts.errorCounts,
    medianMs: sorted[Math.floor(sorted.length / 2)] ?? 0,
    slowestHundredthMs: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
  }
  for (const socket of sockets) socket.destroy()
  return result
}

function newCounts() {
  return { requests: 0, bytes: 0, errorCounts: {} as Record<string, number> }
}

function sleep(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000))
}
