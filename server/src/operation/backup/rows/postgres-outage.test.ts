import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { TcpProxy } from '../../../../../scripts/test-servers/tcp-proxy.ts'
import { SECOND } from '../../../base/clock.ts'
import { newPlace, serverAt } from '../../../testing/backup-place.ts'
import { cleanUp } from '../../../testing/cleanup.ts'
import { runCommand } from '../../../testing/processes/run-command.ts'
import { databaseKinds, temporaryFolder } from '../../../testing/test-server.ts'
import { openPostgresReader } from './postgres-rows-store.ts'
import { tableShapes } from './table-shapes-store.ts'

const skip = !databaseKinds.includes('postgres') && 'needs PostgreSQL'

test('a backup over a silent link to PostgreSQL ends after the time for one batch', { skip }, async (t) => {
  const place = await newPlace(t, 'postgres')
  await (await serverAt(t, place)).stop()
  const { proxy, url } = await TcpProxy.open(place.databaseUrl!, (close) => cleanUp(t, close))
  const reader = await openPostgresReader(url, SECOND)
  const migrations = tableShapes(reader.schemaVersion).find(({ name }) => name === 'migrations')!
  const read = async () => {
    for await (const rows of reader.rows(migrations)) {
      assert.ok(rows.length > 0)
      proxy.set('frozen')
    }
  }
  const begin = Date.now()
  await assert.rejects(read(), {
    failure: 'database-unavailable',
    message: 'PostgreSQL is not available: Query read timeout',
  })
  await reader.close()
  assert.ok(Date.now() - begin < 4 * SECOND, 'neither the cursor nor the connection waits again')
})

test('a backup without PostgreSQL says that PostgreSQL is not available', { skip }, async (t) => {
  const place = await newPlace(t, 'postgres')
  await (await serverAt(t, place)).stop()
  const { proxy, url } = await TcpProxy.open(place.databaseUrl!, () => {})
  await proxy.close()
  const target = join(temporaryFolder(t), 'backup')
  const { code, json } = await runCommand({ ...place, databaseUrl: url }, 'backup', target, '--json')
  assert.equal(code, 1)
  assert.match(json.error, /^PostgreSQL is not available: connect ECONNREFUSED/)
})
