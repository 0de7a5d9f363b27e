import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { operator } from '../../base/events/events.ts'
import { openAccount } from '../../testing/account.ts'
import { points, publishText } from '../../testing/publish.ts'
import { signIn } from '../../testing/sign-in.ts'
import { databaseKinds, openTestServer, type TestServer, testOnce } from '../../testing/test-server.ts'

async function publisherKey(service: TestServer, permissions = ['read', 'write']): Promise<string> {
  return (await service.parts.keys.createPlatform(operator, { name: 'Publisher', permissions })).secret
}

async function upload(
  service: TestServer,
  path: string,
  body: string | FormData,
  headers: Record<string, string>,
) {
  const response = await fetch(service.url + path, { method: 'PUT', body, headers })
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
  return { status: response.status, headers: response.headers, body: (await response.json()) as any }
}

async function finished(service: TestServer, id: string, key: string) {
  for (;;) {
    const { body } = await service.request('GET', `/v1/jobs/${id}`, { key })
    if (body.state === 'done' || body.state === 'failed') return body
    await sleep(20)
  }
}

/** The snapshots in place, excluding the trash. */
const snapshotsOf = (service: TestServer) => service.parts.blobs.list()

for (const database of databaseKinds) {
  test(`a file sent over HTTP becomes a dataset, with a job that tells its report, on ${database}`, async (t) => {
    const service = await openTestServer(t, { database })
    const key = await publisherKey(service)
    const sent = await upload(
      service,
      '/v1/dataset/places?title=Places&credits=4&keywords=a,%20b',
      points(40),
      {
        'x-api-key': key,
        'content-type': 'application/geo+json',
      },
    )
    assert.equal(sent.status, 202, JSON.stringify(sent.body))
    assert.equal(sent.headers.get('location'), `${service.url}/v1/jobs/${sent.body.id}`)
    const job = await finished(service, sent.body.id, key)
    assert.equal(job.state, 'done', JSON.stringify(job))
    assert.deepEqual([job.report.rows, job.report.version, job.report.geometryType], [40, 1, 'Point'])
    const dataset = (await service.request('GET', '/v1/dataset/places')).body
    assert.deepEqual(
      [dataset.title, dataset.credits, dataset.keywords, dataset.rows],
      ['Places', 4, ['a', 'b'], 40],
    )
    // The job is done once the version is visible; the upload is removed right after.
    while (readdirSync(join(service.config.dataDir, 'uploads')).length > 0) await sleep(10)
  })

  test(`two publishers of one table at once: both versions exist, in order, on ${database}`, async (t) => {
    const service = await openTestServer(t, { database })
    const reports = await Promise.all([
      publishText(service, 'places', 'one.geojson', points(3)),
      publishText(service, 'places', 'two.geojson', points(5)),
    ])
    assert.deepEqual(reports.map((report) => report.version).sort(), [1, 2])
    const archives = (await service.request('GET', '/v1/dataset/places/archives')).body.data
    assert.deepEqual(
      archives.map((one: { version: number }) => one.version),
      [2, 1],
    )
    const latest = reports.find((report) => report.version === 2)!
    assert.equal((await service.request('GET', '/v1/dataset/places')).body.rows, latest.rows)
  })

  test(`numbers go on after unpublishing, and nothing of the removed versions stays, on ${database}`, async (t) => {
    const service = await openTestServer(t, { database })
    await publishText(service, 'places', 'places.geojson', points(3))
    await publishText(service, 'places', 'places.geojson', points(3))
    await service.parts.publishing.unpublish('places', operator)
    assert.equal((await service.request('GET', '/v1/dataset/places')).status, 404)
    assert.equal((await service.request('GET', '/v1/dataset/places/archives')).status, 404)
    assert.deepEqual(await snapshotsOf(service), [])
    assert.equal((await service.parts.blobs.listTrash()).length, 2)
    assert.equal((await publishText(service, 'places', 'places.geojson', points(3))).version, 3)
  })
}

test('a form with the file as a part is published, and its other parts are the options', async (t) => {
  const service = await openTestServer(t)
  const key = await publisherKey(service)
  const form = new FormData()
  form.set('title', 'From a form')
  form.set('credits', '9')
  form.set('file', new Blob([points(20)]), 'form.geojson')
  form.set('sample', 'false')
  const sent = await upload(service, '/v1/dataset/places', form, { 'x-api-key': key })
  assert.equal(sent.status, 202, JSON.stringify(sent.body))
  const job = await finished(service, sent.body.id, key)
  assert.equal(job.report?.file, 'form.geojson', JSON.stringify(job))
  const dataset = (await service.request('GET', '/v1/dataset/places')).body
  assert.deepEqual([dataset.title, dataset.credits, dataset.sample], ['From a form', 9, null])
  assert.equal((await service.request('GET', '/v1/dataset/places/sample/json')).status, 404)
  const bad = new FormData()
  bad.set('credits', 'many')
  bad.set('file', new Blob([points(2)]), 'form.geojson')
  const refused = await upload(service, '/v1/dataset/places', bad, { 'x-api-key': key })
  assert.deepEqual([refused.status, refused.body.errors[0].path], [400, 'credits'])
  for (const length of [20_001, 90_000]) {
    const long = new FormData()
    long.set('crs', 'x'.repeat(length))
    long.set('file', new Blob([points(2)]), 'form.geojson')
    const cut = await upload(service, '/v1/dataset/places', long, { 'x-api-key': key })
    assert.deepEqual([cut.status, cut.body.errors[0].path], [400, 'crs'], `${length} characters`)
  }
  // As curl sends it with `;type=application/json`; browsers do not.
  const typed = (schema: string) =>
    [
      'name="schema"\r\nContent-Type: application/json',
      schema,
      'name="file"; filename="form.geojson"',
      points(3),
    ]
      .map((text, i) =>
        i % 2 === 0 ? `--edge\r\nContent-Disposition: form-data; ${text}\r\n\r\n` : `${text}\r\n`,
      )
      .join('')
  const headers = { 'x-api-key': key, 'content-type': 'multipart/form-data; boundary=edge' }
  const schema = JSON.stringify({ columns: [] })
  const json = await upload(service, '/v1/dataset/typed', `${typed(schema)}--edge--\r\n`, headers)
  assert.equal(json.status, 202, JSON.stringify(json.body))
  assert.equal((await finished(service, json.body.id, key)).state, 'done')
  const deep = await upload(
    service,
    '/v1/dataset/typed',
    `${typed('['.repeat(9000) + ']'.repeat(9000))}--edge--\r\n`,
    headers,
  )
  assert.equal(deep.status, 400, JSON.stringify(deep.body))
  const unknown = new FormData()
  unknown.set('file', new Blob([points(2)]), 'form.geojson')
  unknown.set('titel', 'Misspelt')
  const misspelt = await upload(service, '/v1/dataset/places', unknown, { 'x-api-key': key })
  assert.deepEqual(
    [misspelt.status, misspelt.body.errors],
    [400, [{ path: 'titel', message: 'is not a known field' }]],
  )
})

test('only a platform key with write, or an administrator, publishes, describes and removes', async (t) => {
  const service = await openTestServer(t, { settings: { admins: ['root@example.org'] } })
  const good = await publisherKey(service)
  const reader = await publisherKey(service, ['read'])
  const narrow = await publisherKey(service, ['write:others'])
  const account = await openAccount(service, 'ada@example.org', { permissions: ['read', 'write'] })
  const refused: [Record<string, string>, number, string][] = [
    [{}, 401, 'key-missing'],
    [{ 'x-api-key': 'svc_live_nonsense' }, 401, 'key-invalid'],
    [{ 'x-api-key': reader }, 403, 'permission-missing'],
    [{ 'x-api-key': narrow }, 403, 'permission-missing'],
    [{ 'x-api-key': account.key }, 403, 'permission-missing'],
    [{ authorization: `Bearer ${account.token}` }, 403, 'not-administrator'],
    [{ authorization: 'Bearer x.y.z' }, 401, 'token-invalid'],
  ]
  for (const [headers, status, code] of refused) {
    const answer = await upload(service, '/v1/dataset/places', points(2), headers)
    assert.deepEqual([answer.status, answer.body.code], [status, code])
    for (const method of ['PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { title: 'x' } : undefined
      assert.equal((await service.request(method, '/v1/dataset/places', { headers, body })).status, status)
    }
  }
  const { token } = await signIn(service, 'root@example.org')
  const sent = await upload(service, '/v1/dataset/places', points(2), { authorization: `Bearer ${token}` })
  assert.equal(sent.status, 202)
  assert.equal((await finished(service, sent.body.id, good)).state, 'done')
  assert.equal((await service.request('GET', `/v1/jobs/${sent.body.id}`, { key: account.key })).status, 404)
  assert.equal((await service.request('GET', `/v1/jobs/${sent.body.id}`)).status, 401)
  assert.equal(
    (await service.request('PATCH', '/v1/dataset/places', { key: good, body: { title: 'New', credits: 0 } }))
      .status,
    204,
  )
  assert.deepEqual((await service.request('GET', '/v1/dataset/places')).body.title, 'New')
  assert.equal((await service.request('PATCH', '/v1/dataset/places', { key: good, body: {} })).status, 400)
  assert.equal(
    (await service.request('PATCH', '/v1/dataset/nowhere', { key: good, body: { title: 'x' } })).status,
    404,
  )
  assert.equal((await service.request('DELETE', '/v1/dataset/places', { key: good })).status, 204)
  assert.equal((await service.request('DELETE', '/v1/dataset/places', { key: good })).status, 404)
})

for (const database of databaseKinds) {
  testOnce(
    database,
    `who asks is found out before what for, and no form or text is a failure of ours, on ${database}`,
    async (t) => {
      const service = await openTestServer(t, { database })
      const key = await publisherKey(service)
      const account = await openAccount(service, 'ada@example.org')
      const types = { 'content-type': 'application/json' }
      for (const method of ['PUT', 'PATCH', 'DELETE']) {
        const ask = async (options: object) =>
          (await service.request(method, '/v1/dataset/No-Table', { headers: types, ...options })).status
        assert.deepEqual(
          [await ask({}), await ask({ key: account.key }), await ask({ token: account.token })],
          [401, 404, 404],
          method,
        )
      }
      assert.equal(
        (await service.request('DELETE', '/v1/dataset/nowhere', { key, headers: types })).status,
        404,
      )
      await publishText(service, 'places', 'places.geojson', points(2))
      for (const field of ['title', 'description', 'license', 'attribution']) {
        const answer = await service.request('PATCH', '/v1/dataset/places', { key, body: { [field]: 'a\0' } })
        assert.deepEqual([answer.status, answer.body.errors[0].path], [400, `/${field}`])
      }
      const part = (name: string) => `--X\r\nContent-Disposition: form-data; name="${name}"\r\n\r\nv\r\n`
      const many = Array.from({ length: 50 }, (_, i) => part(`field${i}`)).join('')
      const forms: [type: string, body: string, status: number][] = [
        ['multipart/form-data', part('title'), 400],
        ['multipart/form-data; boundary=X', part('title'), 400],
        ['multipart/form-data; boundary=X', `${part('__proto__')}--X--\r\n`, 400],
        ['multipart/form-data; boundary=X', `${many}--X--\r\n`, 413],
        ['multipart/form-data; boundary="a\\b"', part('title'), 400],
        [`multipart/form-data; boundary=${'X'.repeat(300)}`, part('title'), 400],
      ]
      for (const [type, body, status] of forms) {
        const answer = await service.request('PUT', '/v1/dataset/places', {
          key,
          body,
          headers: { 'content-type': type },
        })
        assert.equal(answer.status, status, answer.text)
      }
    },
  )
}

test('a broken file publishes nothing: the job names the rows, and --skip-invalid publishes the rest', async (t) => {
  const service = await openTestServer(t)
  const key = await publisherKey(service)
  const feature = (coordinates: unknown) => ({
    type: 'Feature',
    properties: { a: 1 },
    geometry: { type: 'Point', coordinates },
  })
  const broken = JSON.stringify({
    type: 'FeatureCollection',
    features: [feature([1, 2]), feature([1, 95]), feature([2, 3])],
  })
  const sent = await upload(service, '/v1/dataset/places?filename=broken.geojson', broken, {
    'x-api-key': key,
  })
  const job = await finished(service, sent.body.id, key)
  assert.equal(job.state, 'failed')
  assert.match(job.problem.detail, /^broken\.geojson has 1 row that cannot be published/)
  assert.deepEqual([job.problem.problemCount, job.problem.problems[0].row], [1, 2])
  assert.equal((await service.request('GET', '/v1/dataset/places')).status, 404)
  const again = await upload(service, '/v1/dataset/places?skipInvalid=true', broken, { 'x-api-key': key })
  const rest = await finished(service, again.body.id, key)
  assert.deepEqual([rest.state, rest.report.rows, rest.report.skipped], ['done', 2, 1])
})

test('an upload past the bound is 413, an empty one 400, and neither leaves a file', async (t) => {
  const service = await openTestServer(t, { settings: { maxUploadBytes: 1000 } })
  const key = await publisherKey(service)
  const big = await upload(service, '/v1/dataset/places', points(100), { 'x-api-key': key })
  assert.deepEqual([big.status, big.body.code], [413, 'body-too-large'])
  const chunked = new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(600))
    },
  })
  const streamed = await fetch(`${service.url}/v1/dataset/places`, {
    method: 'PUT',
    body: chunked,
    headers: { 'x-api-key': key, 'content-type': 'application/octet-stream' },
    duplex: 'half',
  } as RequestInit).then(
    (response) => response.status,
    () => 'cut off',
  )
  assert.ok(streamed === 413 || streamed === 'cut off', String(streamed))
  const form = new FormData()
  form.set('file', new Blob([points(100)]), 'a.geojson')
  assert.equal((await upload(service, '/v1/dataset/places', form, { 'x-api-key': key })).status, 413)
  assert.equal((await upload(service, '/v1/dataset/places', '', { 'x-api-key': key })).status, 400)
  assert.equal((await upload(service, '/v1/dataset/Bad-Name', 'x', { 'x-api-key': key })).status, 404)
  assert.equal(
    (await upload(service, '/v1/dataset/places?colour=red', 'x', { 'x-api-key': key })).status,
    400,
  )
  const left = join(service.config.dataDir, 'uploads')
  assert.deepEqual(existsSync(left) ? readdirSync(left) : [], [])
})

test('the versions past WAYLEAVE_KEEP_VERSIONS go, and their files with them', async (t) => {
  const service = await openTestServer(t, { settings: { keepVersions: 2 } })
  for (const count of [1, 2, 3, 4]) await publishText(service, 'places', 'places.geojson', points(count))
  const archives = (await service.request('GET', '/v1/dataset/places/archives')).body.data
  assert.deepEqual(
    archives.map((one: { version: number }) => one.version),
    [4, 3],
  )
  assert.equal((await snapshotsOf(service)).length, 2)
  assert.equal((await service.parts.blobs.listTrash()).length, 2)
})

test('exports built in advance have the title of earlier versions', async (t) => {
  const service = await openTestServer(t)
  const description = { title: 'Places of old', license: 'CC0' }
  await publishText(service, 'places', 'places.geojson', points(3), { description })
  await publishText(service, 'places', 'places.geojson', points(4), { buildExports: true })
  const { snapshot } = await service.parts.catalog.find('places')
  const folder = join(service.config.dataDir, 'snapshots', snapshot, 'exports')
  const kml = readFileSync(join(folder, 'places.kml'), 'utf8')
  assert.match(kml, /<name>Places of old<\/name>\n<description>CC0<\/description>/)
})

test('each bound of the settings is a sentence for the publisher', async (t) => {
  const settings = { maxRows: 5, maxColumns: 3, maxNesting: 4, maxUploadBytes: 2000 }
  const service = await openTestServer(t, { settings })
  const nested = `[${'['.repeat(10)}${']'.repeat(10)}]`
  const feature = (properties: string) =>
    `{"type":"Feature","properties":${properties},"geometry":{"type":"Point","coordinates":[1,2]}}`
  const attempts: [string, RegExp][] = [
    [points(6), /5 rows/],
    [feature('{"a":1,"b":2,"c":3,"d":4}'), /3 columns/],
    [feature(`{"a":${nested}}`), /nest|deep/],
    [points(100), /WAYLEAVE_MAX_UPLOAD_BYTES allows 2000/],
  ]
  for (const [content, sentence] of attempts) {
    await assert.rejects(publishText(service, 'places', 'places.geojson', content), (error: Error) => {
      assert.match(error.name, /SourceError/)
      assert.match(error.message, sentence)
      return true
    })
  }
  assert.deepEqual((await service.request('GET', '/v1/datasets')).body.data, [])
})
