import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { operator } from '../../base/events/events.ts'
import { points, publishText } from '../../testing/publish.ts'
import { openTestServer, type TestServer, temporaryFolder } from '../../testing/test-server.ts'
import { tryLockExports } from './exports/exports-lock.ts'
import { sweepExports } from './exports/sweep-exports.ts'

needs('postgres')

test('two nodes that are asked for the same file at the same instant both send it, and the same one', async (t) => {
  const first = await openTestServer(t, { database: 'postgres' })
  const { databaseUrl, dataDir } = first.config
  const second = await openTestServer(t, { databaseUrl: databaseUrl!, dataDir })
  await publishText(first, 'places', 'places.geojson', points(30_000))
  const { secret } = await first.parts.keys.createPlatform(operator, { name: 'p', permissions: ['read'] })
  for (const format of ['geojson', 'gpkg']) {
    const ask = async ({ url }: TestServer, encoding: string) => {
      const headers = { 'x-api-key': secret, 'accept-encoding': encoding }
      const answer = await fetch(`${url}/v1/dataset/places/files/${format}`, { headers })
      await answer.body!.cancel()
      assert.equal(answer.status, 200, `${format} ${encoding}`)
      return answer.headers.get('etag')
    }
    const codings = ['gzip', 'zstd']
    const [here, there] = await Promise.all([
      Promise.all(codings.map((coding) => ask(first, coding))),
      Promise.all(codings.toReversed().map((coding) => ask(second, coding))),
    ])
    assert.deepEqual(here, there.reverse())
  }
})

test('partial files of another node’s build are kept, and abandoned ones are removed', async (t) => {
  const folder = temporaryFolder(t)
  const exports = join(folder, 'exports')
  await sweepExports(folder)
  mkdirSync(exports)
  writeFileSync(join(exports, 'places.csv.partial-999999999'), 'begun')
  const unlock = tryLockExports(folder)!
  await sweepExports(folder)
  assert.ok(readdirSync(exports).includes('places.csv.partial-999999999'))
  unlock()
  await sweepExports(folder)
  assert.deepEqual(readdirSync(exports), ['lock'])
})
