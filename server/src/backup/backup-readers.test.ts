import assert from 'node:assert/strict'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { backUp, emptyPlace, serverAt } from '../testing/backup-place.ts'
import { temporaryFolder } from '../testing/test-server.ts'
import { BackupFolder } from './backup-folder.ts'

test('a backup leaves the scratch folder of a verification that runs beside it', async (t) => {
  const place = await emptyPlace(t, 'sqlite')
  const target = join(temporaryFolder(t), 'backup')
  await (await serverAt(t, place)).stop()
  await backUp(place, target)
  const folder = new BackupFolder(target)
  await folder.withScratch(async (scratch) => {
    writeFileSync(join(scratch, 'file'), '')
    await backUp(place, target, 1)
    assert.ok(existsSync(join(scratch, 'file')))
    // Two verifications of one process do not share a folder either.
    await folder.withScratch(async (other) => assert.notEqual(other, scratch))
  })
  assert.deepEqual(
    readdirSync(folder.backups).filter((name) => name.startsWith('.')),
    [],
  )
})
