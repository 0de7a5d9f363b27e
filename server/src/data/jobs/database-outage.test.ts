import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { TcpProxy } from '../../../../scripts/test-servers/tcp-proxy.ts'
import type { DataWork } from '../../base/data-work.ts'
import { openDatabase } from '../../base/database/open.ts'
import { operator } from '../../base/events/events.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { sameProcessWork } from '../../testing/processes/same-process-work.ts'
import { points } from '../../testing/publish.ts'
import {
  openTestServer,
  type TestServer,
  temporaryDatabase,
  temporaryFolder,
} from '../../testing/test-server.ts'
import { until } from '../../testing/until.ts'
import { readJob } from './job-store.ts'

const settings = { databaseTimeout: 1 }

/** A database, and a link to it that can be cut. */
async function openPlace(t: TestContext) {
  const databaseUrl = await temporaryDatabase(t)
  const dataDir = temporaryFolder(t)
  const link = await TcpProxy.open(databaseUrl, (close) => cleanUp(t, close))
  const healthy = await openDatabase({ databaseUrl, dataDir })
  cleanUp(t, () => healthy.close())
  return {
    databaseUrl,
    dataDir,
    ...link,
    read: async (id: string) => (await readJob(healthy.db, id))!,
    healthy,
  }
}

/** Compiles as usual once the gate is open, and counts the attempts. */
function gatedWork() {
  const gate = { attempts: 0, opened: Promise.withResolvers<void>() }
  const compile: DataWork['compile'] = async (...given) => {
    gate.attempts++
    await gate.opened.promise
    return sameProcessWork.compile(...given)
  }
  return { gate, work: { compile } }
}

async function startJob({ parts }: TestServer, content = points(5)): Promise<string> {
  const { jobs } = parts
  const id = jobs.newId()
  writeFileSync(await jobs.uploadPath(id), content)
  const publish = { table: 'places', file: 'a.geojson', description: {} }
  await jobs.start(id, { publish, origin: operator, uploadBytes: content.length })
  return id
}

const hasLine = ({ logLines }: TestServer, text: string) => logLines.some((line) => line.includes(text))

/** A job whose first attempt waits at the gate. */
async function openGatedJob(t: TestContext, content?: string) {
  const { proxy, url, dataDir, read } = await openPlace(t)
  const { gate, work } = gatedWork()
  const service = await openTestServer(t, { databaseUrl: url, dataDir, settings, work })
  const id = await startJob(service, content)
  await until('the attempt', () => gate.attempts === 1)
  return { proxy, gate, service, read: () => read(id) }
}

test('an outage of the database does not count as an attempt', { skip: lacks('postgres') }, async (t) => {
  const { proxy, gate, service, read } = await openGatedJob(t)
  proxy.cut()
  gate.opened.resolve()
  await until('the failure of the attempt', () => hasLine(service, 'is retried in'))
  gate.opened = Promise.withResolvers()
  // Longer than the timeout of the database: the job cannot be returned at once.
  await sleep(2500)
  proxy.set('open')
  await until('the return of the job', async () => (await read()).state === 'waiting')
  const { attempts, retries } = await read()
  assert.deepEqual({ attempts, retries }, { attempts: 0, retries: 1 })
  gate.opened.resolve()
  await until('the version', async () => (await read()).state === 'done')
  assert.equal((await read()).attempts, 1)
  assert.ok(!hasLine(service, 'could not be run'))
})

test('a file that is refused during an outage is refused once', { skip: lacks('postgres') }, async (t) => {
  const { proxy, gate, read } = await openGatedJob(t, '{"type":"FeatureCollection","features":[{]}')
  proxy.cut()
  gate.opened.resolve()
  await sleep(2500)
  proxy.set('open')
  await until('the refusal', async () => (await read()).state === 'failed')
  assert.equal(gate.attempts, 1)
})

test('a stop during a short outage returns the job', { skip: lacks('postgres') }, async (t) => {
  const { proxy, gate, service, read } = await openGatedJob(t)
  proxy.cut()
  const stopped = service.parts.runner.close()
  gate.opened.resolve()
  await sleep(2500)
  proxy.set('open')
  await stopped
  const { state, attempts } = await read()
  assert.deepEqual({ state, attempts }, { state: 'waiting', attempts: 0 })
})

test('after an outage, a node does not take the jobs of another at once', {
  skip: lacks('postgres'),
}, async (t) => {
  const { proxy, url, databaseUrl, dataDir, read, healthy } = await openPlace(t)
  const other = await TcpProxy.open(databaseUrl, (close) => cleanUp(t, close))
  const { gate, work } = gatedWork()
  const worker = await openTestServer(t, { databaseUrl: url, dataDir, settings, work })
  const idle = await openTestServer(t, { databaseUrl: other.url, dataDir, settings, work })
  const id = await startJob(worker)
  await until('the attempt', () => gate.attempts === 1)
  proxy.cut()
  other.proxy.cut()
  await sleep(3500)
  // As after an outage that is longer than a lease.
  await healthy.db.updateTable('jobs').set({ lease_until: '2020-01-01T00:00:00.000Z' }).execute()
  other.proxy.set('open')
  await until('the return of the other node', async () => (await fetch(`${idle.url}/ready`)).status === 200)
  await sleep(2500)
  proxy.set('open')
  gate.opened.resolve()
  await until('the version', async () => (await read(id)).state === 'done')
  assert.deepEqual([idle.parts.runner.leasesLost, (await read(id)).attempts], [0, 1])
})
