import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { operator } from '../../base/events/events.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { sameProcessWork } from '../../testing/processes/same-process-work.ts'
import { publishText } from '../../testing/publish.ts'
import { openTestServer, type TestServer, temporaryFolder } from '../../testing/test-server.ts'

const TREES = 'code,kind\na,oak\nb,ash\n'

async function kindsOf({ request, parts }: TestServer): Promise<string[]> {
  const newKey = { name: 'Reader', permissions: ['read'] }
  const { secret: key } = await parts.keys.createPlatform(operator, newKey)
  const { text } = await request('GET', '/v1/dataset/trees/files/csv', { key })
  return text.trim().split(/\r?\n/).slice(1)
}

test('uploads append to the current version and update it', async (t) => {
  const service = await openTestServer(t)
  const newKey = { name: 'Publisher', permissions: ['read', 'write'] }
  const { secret: key } = await service.parts.keys.createPlatform(operator, newKey)
  const upload = async (body: string, query: string) => {
    const headers = { 'content-type': 'text/csv' }
    const path = `/v1/dataset/trees?filename=trees.csv&${query}`
    const { body: job, status, text } = await service.request('PUT', path, { key, body, headers })
    assert.equal(status, 202, text)
    for (;;) {
      const { state, report, problem } = await service.parts.jobs.find(job.id)
      if (state === 'done' || state === 'failed') return { state, report, problem }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const early = await upload(TREES, 'mode=append')
  assert.match(early.problem?.detail ?? '', /no dataset "trees" yet/)
  await upload(TREES, 'idColumn=code')
  const appended = await upload('code,kind\nc,elm\n', 'mode=append')
  assert.deepEqual(appended.report?.changes, { added: 1, updated: 0, removed: 0 })
  assert.deepEqual(await kindsOf(service), ['a,a,oak', 'b,b,ash', 'c,c,elm'])
  await upload('code,kind\nb,fir\nd,yew\n', 'mode=update')
  assert.deepEqual(await kindsOf(service), ['a,a,oak', 'b,b,fir', 'c,c,elm', 'd,d,yew'])
  const replaced = await upload('code,kind\nd,yew\n', 'mode=update&deleteMissing=true')
  assert.deepEqual(replaced.report?.changes, { added: 0, updated: 1, removed: 3 })
  assert.deepEqual(await kindsOf(service), ['d,d,yew'])
  const repeated = await upload('code,kind\nd,yew\n', 'mode=append')
  assert.match(repeated.problem?.detail ?? '', /already: "d"\. Use --update/)
  const wrong = await service.request('PUT', '/v1/dataset/trees?mode=append&deleteMissing=true', {
    key,
    body: 'a\n1\n',
  })
  assert.equal(wrong.status, 409)
})

test('changes to a version that was replaced meanwhile are not published', async (t) => {
  let onCompile = async () => {}
  const compile: typeof sameProcessWork.compile = async (...args) => {
    await onCompile()
    return sameProcessWork.compile(...args)
  }
  const service = await openTestServer(t, { work: { compile } })
  await publishText(service, 'trees', 'a.csv', TREES, { idColumn: 'code' })
  onCompile = async () => {
    onCompile = async () => {}
    await publishText(service, 'trees', 'b.csv', 'code,kind\nz,fig\n', { idColumn: 'code' })
  }
  const late = publishText(service, 'trees', 'c.csv', 'code,kind\nc,elm\n', { mode: 'append' })
  await assert.rejects(late, /Another version of "trees" was published while version 1 was changed/)
  assert.deepEqual(await kindsOf(service), ['z,z,fig'])
})

test('changes can be kept back as a draft, and the limit of lost rows holds for updates too', async (t) => {
  const service = await openTestServer(t)
  const schema = { columns: [{ name: 'code' }, { name: 'kind' }], idColumn: 'code', maxRowDrop: 0.2 }
  await publishText(service, 'trees', 'a.csv', TREES, { schema })
  const update = { mode: 'update', deleteMissing: true } as const
  const one = 'code,kind\na,fir\n'
  await assert.rejects(publishText(service, 'trees', 'b.csv', one, update), /50 % fewer/)
  await publishText(service, 'trees', 'b.csv', one, { ...update, ignoreSchema: true, draft: true })
  assert.deepEqual(await kindsOf(service), ['a,a,oak', 'b,b,ash'])
  await service.parts.versions.release({ table: 'trees', origin: operator })
  assert.deepEqual(await kindsOf(service), ['a,a,fir'])
})

test('an update keeps the times and places that its file lacks, also if a schema names their columns', async (t) => {
  const service = await openTestServer(t)
  const schema = {
    columns: [{ name: 'code' }, { name: 'kind' }, { name: 'planted', type: 'date' as const }],
    ...{ idColumn: 'code', timeColumn: 'planted', longitude: 'x', latitude: 'y' },
  }
  const trees = 'code,kind,planted,x,y\na,oak,2020-01-31,5,52\nb,ash,2021-01-31,6,53\n'
  await publishText(service, 'trees', 'a.csv', trees, { schema })
  const update = { mode: 'update', idColumn: 'code' } as const
  const { timeExtent, bbox } = await publishText(service, 'trees', 'b.csv', 'code,kind\na,fir\n', update)
  assert.deepEqual(
    [timeExtent, bbox],
    [
      ['2020-01-31', '2021-01-31'],
      [5, 52, 6, 53],
    ],
  )
  const lenient = { ignoreSchema: true }
  const { notes, geometryType } = await publishText(service, 'trees', 'c.csv', 'name\nelm\n', lenient)
  assert.equal(geometryType, null)
  for (const note of [/"x"/, /"code"/, /"planted"/]) assert.match(notes.join(' '), note)
  const stated = publishText(service, 'trees', 'c.csv', 'name\nelm\n', { ...lenient, timeColumn: 'day' })
  await assert.rejects(stated, /no column "day"/)
})

test('the command appends and updates', async (t) => {
  const place = { dataDir: temporaryFolder(t), databaseUrl: null }
  const file = join(temporaryFolder(t), 'trees.csv')
  const publish = (text: string, ...flags: string[]) => {
    writeFileSync(file, text)
    return runCommand(place, 'publish', file, '--table', 'trees', ...flags)
  }
  await publish(TREES, '--id-column', 'code')
  assert.match((await publish('code,kind\nc,elm\n', '--append')).stdout, /1 added, 0 updated, 0 removed/)
  const { json } = await publish('code,kind\na,fir\n', '--update', '--id-column', 'code', '--json')
  assert.deepEqual((json as { changes: unknown }).changes, { added: 0, updated: 1, removed: 0 })
  assert.equal((await publish('code,kind\na,fir\n', '--append', '--update')).code, 2)
  assert.equal((await publish('code,kind\na,fir\n', '--delete-missing')).code, 2)
})
