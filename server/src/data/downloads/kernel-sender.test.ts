import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readlinkSync, statSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { bytesTaken } from '../../http/sockets/node-internals.ts'
import { temporaryFolder } from '../../testing/test-server.ts'
import { stampOf } from '../catalog/file-stamp.ts'
import type { ExportFile } from './exports/export-file.ts'
import { openExport, openStamped, sendExport } from './send-export.ts'

const SIZE = (30 << 20) + 12_345
const HEAD = Buffer.from('{"features":[')
const TAIL = Buffer.from(']}')

/** A server that sends ranges of a verified file between a head and a tail. */
async function serveVerified(t: TestContext) {
  const path = join(temporaryFolder(t), 'features.pack')
  const bytes = randomBytes(SIZE)
  writeFileSync(path, bytes)
  const stamp = stampOf(statSync(path))
  const file: ExportFile = {
    mediaType: 'application/geo+json',
    encoding: 'identity',
    lastModified: new Date(0),
    open: () => openStamped(path, stamp),
    localPath: path,
    signedAddress: async () => null,
    head: HEAD,
    tail: TAIL,
    fileBytes: SIZE,
    bytes: HEAD.length + SIZE + TAIL.length,
    etag: '"a"',
    digest: null,
    checked: null,
  }
  const responses: ServerResponse[] = []
  const counts: { socket: Socket; written: number; taken: number }[] = []
  const settled: Promise<unknown>[] = []
  const server = createServer(async (asked, response) => {
    const [start, end] = asked.url!.slice(1).split('-').map(Number) as [number, number]
    responses.push(response)
    const socket = response.socket!
    counts.push({ socket, written: socket.bytesWritten, taken: bytesTaken(socket) })
    response.writeHead(200, { 'content-length': end - start })
    settled.push(sendExport((await openExport(file))!, { start, end }, response).catch((error) => error))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => {
    agent.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const get = async (start: number, end: number): Promise<IncomingMessage> => {
    const asking = request({ port, host: '127.0.0.1', path: `/${start}-${end}`, agent }).end()
    return (await once(asking, 'response'))[0]
  }
  return { get, responses, counts, settled, path, whole: Buffer.concat([HEAD, bytes, TAIL]) }
}

/** How many sockets this process has open. */
function openSockets(): number {
  const links = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      return ''
    }
  })
  return links.filter((link) => link.startsWith('socket:')).length
}

test('the kernel sends large parts of a verified file, byte for byte, on a connection that is used again', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const { get, counts, whole } = await serveVerified(t)
  for (const [start, end] of [
    [0, whole.length],
    [HEAD.length + 5, whole.length - 3],
    [7, 20 << 20],
    [100, 5000],
    [0, whole.length],
  ] as const) {
    const response = await get(start, end)
    const { socket, written, taken } = counts.at(-1)!
    const pieces: Buffer[] = await response.toArray()
    assert.ok(Buffer.concat(pieces).equals(whole.subarray(start, end)), `${start}-${end}`)
    const isLarge = end - start > 1 << 20
    // Node wrote little of it. What the kernel sent counts when stalled readers are looked for.
    if (isLarge) assert.ok(socket.bytesWritten - written < (end - start) / 2, `${start}-${end}`)
    assert.ok(bytesTaken(socket) - taken >= end - start)
  }
})

test('a client that reads slowly, or leaves, holds neither bytes nor sockets', async (t) => {
  const { get, responses, settled, whole } = await serveVerified(t)
  const before = openSockets()
  const slow = await get(0, whole.length)
  const pieces: Buffer[] = []
  for await (const piece of slow as AsyncIterable<Buffer>) {
    pieces.push(piece)
    if (pieces.length % 50 === 0) await sleep(1)
  }
  assert.ok(Buffer.concat(pieces).equals(whole))
  const leaving = await get(0, whole.length)
  await once(leaving, 'readable')
  leaving.destroy()
  leaving.on('error', () => {})
  assert.deepEqual(await Promise.all(settled), [undefined, undefined])
  assert.ok(responses.at(-1)!.destroyed)
  while (openSockets() > before) await sleep(5)
})

test('a file that is written to while the kernel sends it is cut off before its end', async (t) => {
  const { get, settled, path, whole } = await serveVerified(t)
  const response = await get(0, whole.length)
  writeFileSync(path, Buffer.alloc(SIZE), { flag: 'r+' })
  await assert.rejects(response.toArray(), /aborted|hang up|ECONNRESET/)
  assert.match(String((await Promise.all(settled))[0]), /was changed while it was sent/)
})

test('a file that the kernel refuses to send goes through buffers', async (t) => {
  const path = join(temporaryFolder(t), 'export.csv')
  const bytes = randomBytes(SIZE)
  writeFileSync(path, bytes)
  const handle = await open(path)
  const server = createServer(async (_asked, response) => {
    response.writeHead(200, { 'content-length': SIZE })
    const opened = {
      file: { head: Buffer.alloc(0), tail: Buffer.alloc(0), fileBytes: SIZE, checked: null } as never,
      handle: {
        // Not an open file.
        descriptor: 1 << 20,
        read: (...range: [Uint8Array, number, number, number]) => handle.read(...range),
        stat: () => handle.stat(),
        close: () => handle.close(),
      },
    }
    await sendExport(opened, { start: 0, end: SIZE }, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const received = Buffer.from(await (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer())
  assert.ok(received.equals(bytes))
})
