import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { demoDatasets } from '@wayleave/demo/demo-datasets.ts'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { system } from '../../base/events/events.ts'
import { openTestServer } from '../../testing/test-server.ts'
import { publishDemoData } from './demo.ts'

needs('time')

test('the start after an interrupted first start publishes the rest of the demo data, and no later one does', async (t) => {
  const { parts } = await openTestServer(t)
  let isInterrupted = true
  const datasets = demoDatasets.slice(0, 3).map((dataset, i) => ({
    ...dataset,
    file: `${dataset.table}.csv`,
    idColumn: undefined,
    timeColumn: undefined,
    columnNotes: undefined,
    write: (path: string) => {
      if (i === 1 && isInterrupted) throw new Error('interrupted')
      return writeFile(path, 'name,size\na,1\n')
    },
  }))
  const start = () => publishDemoData(parts, datasets, () => {})
  const tables = async () => (await parts.catalog.all()).map(({ table }) => table).sort()
  await assert.rejects(start(), /interrupted/)
  assert.deepEqual(await tables(), [datasets[0]!.table])
  isInterrupted = false
  await start()
  assert.deepEqual(await tables(), datasets.map(({ table }) => table).sort())
  const { version } = (await parts.catalog.all()).find(({ table }) => table === datasets[0]!.table)!
  assert.equal(version, 1)
  assert.equal(existsSync(join(parts.config.dataDir, 'demo-sources')), false)
  // What an operator has removed stays removed.
  await parts.publishing.unpublish(datasets[2]!.table, system)
  await start()
  assert.equal((await tables()).length, 2)
})
