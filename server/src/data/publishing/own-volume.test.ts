import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { operator } from '../../base/events/events.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { runProgramFile } from '../../testing/processes/run-command.ts'
import { points, publishText } from '../../testing/publish.ts'
import { openTestServer, temporaryFolder } from '../../testing/test-server.ts'

needs('processes')

/** Mounts a tmpfs on the folder, or returns the reason why it cannot. */
function mountVolume(t: TestContext, folder: string, size = '64m'): string | null {
  mkdirSync(folder, { recursive: true })
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=700`, 'wayleave-test', folder], {
      stdio: 'pipe',
    })
  } catch (error) {
    return `a volume cannot be mounted here: ${(error as Error).message.split('\n')[0]}`
  }
  cleanUp(t, () => execFileSync('umount', ['-l', folder]))
  return null
}

test('publishing on a full disk says so in one sentence, and leaves nothing behind', async (t) => {
  const dataDir = temporaryFolder(t)
  const snapshots = join(dataDir, 'snapshots')
  const obstacle = mountVolume(t, snapshots, '1m')
  if (obstacle) return t.skip(obstacle)
  const service = await openTestServer(t, { dataDir, childProcesses: true })
  const file = join(dataDir, 'many.geojson')
  writeFileSync(file, points(40_000))
  // The disk is full, or less is free than the service has to keep.
  const sentence =
    /There is no room on the disk to compile many\.geojson(: less than .* are free.*WAYLEAVE_MIN_FREE_BYTES)?\.$/m
  const command = await runProgramFile(service.config, 'publish', file, '--table', 'many')
  assert.equal(command.code, 1)
  assert.match(command.stderr, sentence)
  assert.equal(command.stderr.split('\n').length, 2)
  assert.deepEqual(readdirSync(snapshots), [])
  const publisher = { name: 'Publisher', permissions: ['read', 'write'] }
  const key = (await service.parts.keys.createPlatform(operator, publisher)).secret
  const upload = await fetch(`${service.url}/v1/dataset/many?filename=many.geojson`, {
    method: 'PUT',
    body: readFileSync(file),
    headers: { 'x-api-key': key },
  })
  const { id } = (await upload.json()) as { id: string }
  let job = await service.parts.jobs.find(id)
  while (job.state !== 'failed') {
    await sleep(20)
    job = await service.parts.jobs.find(id)
  }
  assert.match(job.problem!.detail!, sentence)
})

test('snapshots on a volume of their own: publishing, removing and starting again work', async (t) => {
  const dataDir = temporaryFolder(t)
  const snapshots = join(dataDir, 'snapshots')
  const obstacle = mountVolume(t, snapshots)
  if (obstacle) return t.skip(obstacle)
  assert.notEqual(statSync(snapshots).dev, statSync(dataDir).dev)
  // A new ext4 file system contains this folder.
  mkdirSync(join(snapshots, 'lost+found'), { mode: 0o700 })
  const first = await openTestServer(t, { dataDir, settings: { keepVersions: 1 } })
  await publishText(first, 'places', 'places.geojson', points(3))
  assert.equal((await publishText(first, 'places', 'places.geojson', points(5))).version, 2)
  await publishText(first, 'others', 'others.geojson', points(2))
  await first.parts.publishing.unpublish('others', operator)
  assert.equal((await first.parts.blobs.listTrash()).length, 2)
  await first.stop()
  const second = await openTestServer(t, { dataDir })
  assert.equal((await second.request('GET', '/v1/dataset/places')).body.rows, 5)
  assert.equal((await second.request('GET', '/v1/dataset/places/sample/json')).status, 200)
  assert.ok(readdirSync(snapshots).includes('lost+found'))
  await second.stop()
  execFileSync('umount', [snapshots])
  await assert.rejects(
    openTestServer(t, { dataDir }),
    /holds none of the 1 snapshot .* is its volume mounted/,
  )
  // The `umount` at the end needs a mounted volume.
  execFileSync('mount', ['-t', 'tmpfs', 'wayleave-test', snapshots])
})
