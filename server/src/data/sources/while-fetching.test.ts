import assert from 'node:assert/strict'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { SourceError } from '@wayleave/geodata/compile'
import { pgcopyHeader } from '@wayleave/geodata/pgcopy'
import { operator } from '../../base/events/events.ts'
import { openTestServer, temporaryFolder } from '../../testing/test-server.ts'
import type { PublishReport } from '../publishing/publish-request.ts'
import { whileFetching } from './while-fetching.ts'

const LARGE = 1 << 25
const begun = { path: '/nowhere', file: 'rows.pgcopy' }
const fetched = { ...begun, bytes: LARGE, validators: { etag: null, lastModified: null, checksum: 'c' } }
const report = { rows: 1 } as PublishReport
const never = new AbortController().signal

test('a large source is published while it is fetched, and a small one afterwards', async () => {
  for (const [bytes, expected] of [
    [LARGE, ['publish', 'fetched', 'published']],
    [1000, ['fetched', 'publish', 'published']],
  ] as const) {
    const steps: string[] = []
    const published = await whileFetching(
      async ({ onBegin, onBytes }) => {
        onBegin!(begun)
        onBytes!(bytes)
        await sleep(20)
        steps.push('fetched')
        return { ...fetched, bytes }
      },
      async (_source, { whole }) => {
        steps.push('publish')
        await whole
        steps.push('published')
        return report
      },
      never,
    )
    assert.deepEqual(steps, expected)
    assert.deepEqual(published, { report, validators: fetched.validators, bytes })
  }
})

test('if publishing fails, fetching ends before the folder is removed', async () => {
  let isEnded = false
  const publishing = whileFetching(
    async ({ signal, onBegin, onBytes }) => {
      onBegin!(begun)
      onBytes!(LARGE)
      await sleep(60_000, undefined, { signal }).catch(() => sleep(20))
      isEnded = true
      throw signal.reason
    },
    async () => {
      throw new SourceError('It does not fit.')
    },
    never,
  )
  await assert.rejects(publishing, /It does not fit/)
  assert.ok(isEnded)
})

/** A table of one integer, as PostgreSQL sends it. */
const HEAD = Buffer.concat([
  pgcopyHeader({ columns: [{ name: 'n', kind: 'int4' }], crs: null, srid: null }),
  Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'),
  Buffer.alloc(8),
])
const rows = (numbers: number[]) =>
  Buffer.concat(numbers.map((n) => Buffer.from([0, 1, 0, 0, 0, 4, 0, 0, 0, n])))
const END = Buffer.from([0xff, 0xff])

// In a process of its own, which is killed: in this one nobody would end the reading.
test('a file that is still being written is published whole, or not at all', async (t) => {
  const service = await openTestServer(t, { childProcesses: true })
  const path = join(temporaryFolder(t), 'rows.pgcopy')
  const publish = (table: string, write: () => Promise<void>) => {
    writeFileSync(path, Buffer.concat([HEAD, rows([1, 2])]), { mode: 0o644 })
    const request = { table, path, description: {} }
    return service.parts.publishing.publish(request, operator, { whole: write() })
  }
  const cut = publish('cut', async () => {
    appendFileSync(path, rows([3]))
    await sleep(500)
    throw new SourceError('The database is gone.')
  })
  await assert.rejects(cut, /The database is gone/)
  // What was sent has an end, but the database did not confirm it.
  const unconfirmed = publish('cut', async () => {
    appendFileSync(path, END)
    await sleep(5000)
    throw new SourceError('The database is gone.')
  })
  await assert.rejects(unconfirmed, /The database is gone/)
  assert.equal(await service.parts.catalog.findIfAny('cut'), null)

  const padding = rows(Array.from({ length: 20_000 }, (_, i) => i % 256))
  const whole = await publish('whole', async () => {
    await sleep(300)
    appendFileSync(path, padding.subarray(0, 100_003))
    await sleep(100)
    appendFileSync(path, Buffer.concat([padding.subarray(100_003), END]))
  })
  assert.equal(whole.rows, 20_002)
  const { manifest } = await service.parts.catalog.find('whole')
  assert.equal(manifest.source.bytes, HEAD.length + 20_002 * 10 + END.length)
})
