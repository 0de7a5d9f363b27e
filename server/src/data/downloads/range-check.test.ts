import assert from 'node:assert/strict'
import { once } from 'node:events'
import { closeSync, linkSync, openSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { CHECKED_BLOCK_BYTES as BLOCK, BlockHasher, DamagedSnapshotError } from '@wayleave/geodata/snapshot'
import { temporaryFolder } from '../../testing/test-server.ts'
import { stampOf } from '../catalog/file-stamp.ts'
import type { ExportFile } from './exports/export-file.ts'
import { openExport, openStamped, sendExport } from './send-export.ts'

const SIZE = 3 * BLOCK + 1000
const DAMAGED_AT = BLOCK + 5

/** A server that sends ranges of a file whose second block was damaged after its checksums were taken. */
async function serveDamaged(t: TestContext, isVerified = false) {
  const path = join(temporaryFolder(t), 'features.pack')
  const whole = Buffer.alloc(SIZE)
  for (let i = 0; i < SIZE; i++) whole[i] = (i * 31 + (i >> 8)) & 255
  const hasher = new BlockHasher()
  hasher.update(whole)
  const damaged = Buffer.from(whole)
  damaged[DAMAGED_AT]! ^= 1
  writeFileSync(path, damaged)
  const stamp = stampOf(statSync(path))
  const file: ExportFile = {
    mediaType: 'application/geo+json',
    encoding: 'identity',
    lastModified: new Date(0),
    open: () => openStamped(path, stamp),
    localPath: path,
    signedAddress: async () => null,
    head: Buffer.from('head'),
    tail: Buffer.from('tail'),
    fileBytes: SIZE,
    bytes: SIZE + 8,
    etag: '"a"',
    digest: null,
    checked: { name: 'features.pack', blocks: hasher.finish(), isVerified: () => isVerified },
  }
  const failures: unknown[] = []
  const server = createServer(async (asked, response) => {
    const [start, end] = asked.url!.slice(1).split('-').map(Number) as [number, number]
    response.writeHead(200, { 'content-length': end - start })
    const opened = await openExport(file)
    await sendExport(opened!, { start, end }, response).catch((error: unknown) => failures.push(error))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  // Uses one connection per request: `fetch` retries a request whose connection is closed before the first
  // byte.
  const get = async (start: number, end: number) => {
    const asking = request({ port, host: '127.0.0.1', path: `/${start}-${end}`, agent: false }).end()
    const [response] = (await once(asking, 'response')) as [IncomingMessage]
    const pieces: Buffer[] = await response.toArray()
    return Buffer.concat(pieces)
  }
  const sent = Buffer.concat([file.head, whole, file.tail])
  return { get, sent, damaged, failures, file, path }
}

test('a download that meets a damaged block is cut off, whatever range is asked for', async (t) => {
  const { get, failures } = await serveDamaged(t)
  const ranges = [
    [0, SIZE + 8],
    [4 + BLOCK, 4 + 2 * BLOCK],
    [4 + DAMAGED_AT, 4 + DAMAGED_AT + 1],
    // The range itself contains no damaged byte, but the block whose checksum covers it does.
    [4 + BLOCK + 100, 4 + BLOCK + 200],
    [4 + 10, 4 + BLOCK + 1],
    [4 + 2 * BLOCK - 1, 4 + 2 * BLOCK + 1],
  ]
  for (const [start, end] of ranges) {
    await assert.rejects(get(start!, end!), /aborted|hang up|ECONNRESET/, `${start}-${end}`)
    // The client sees the connection end before the sender has closed the file.
    while (failures.length === 0) await sleep(1)
    const failure = failures.pop()
    assert.ok(failure instanceof DamagedSnapshotError && failure.file === 'features.pack')
  }
  assert.deepEqual(failures, [])
})

test('ranges of undamaged blocks are sent, byte for byte', async (t) => {
  const { get, sent, failures } = await serveDamaged(t)
  for (const [start, end] of [
    [0, 2],
    [0, 4 + BLOCK],
    [2, 4 + 7],
    [4 + 100, 4 + 200],
    [4 + 2 * BLOCK, 4 + 3 * BLOCK],
    [4 + 2 * BLOCK + 1, SIZE + 8],
    [4 + 3 * BLOCK + 999, SIZE + 6],
    [SIZE + 5, SIZE + 8],
  ] as const) {
    assert.ok((await get(start, end)).equals(sent.subarray(start, end)), `${start}-${end}`)
  }
  assert.deepEqual(failures, [])
})

test('a file that was verified lately is sent without a check of its blocks', async (t) => {
  const { get, damaged, failures } = await serveDamaged(t, true)
  // Whatever the disk changes without a write is found by the next verification; see docs/design/damage.md.
  assert.ok((await get(4, 4 + SIZE)).equals(damaged))
  assert.deepEqual(failures, [])
})

test('a download of a file that is written to meanwhile is cut off, whatever range is asked for', async (t) => {
  const path = join(temporaryFolder(t), 'export.csv')
  writeFileSync(path, Buffer.alloc(SIZE, 'a'))
  const opened = await openStamped(path, stampOf(statSync(path)))
  await opened!.requireUnchanged!()
  // The removal of a name changes the ctime alone, and not the bytes.
  linkSync(path, `${path}.other`)
  rmSync(`${path}.other`)
  await opened!.requireUnchanged!()
  const file = openSync(path, 'r+')
  writeSync(file, 'b', 5)
  closeSync(file)
  await assert.rejects(opened!.requireUnchanged!(), /was changed while it was sent/)
  await opened!.close()
})

test('a file that changed since it was verified is not opened', async (t) => {
  const { file, path } = await serveDamaged(t)
  writeFileSync(path, 'something else')
  assert.equal(await openExport(file), null)
  assert.equal(await openStamped(`${path}.gone`, stampOf(statSync(path))), null)
})
