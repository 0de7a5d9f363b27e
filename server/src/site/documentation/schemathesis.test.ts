/**
 * Runs schemathesis with all its checks over both API definitions: it sends valid and invalid requests that it
 * makes from them, and compares every response with them.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { operator } from '../../base/events/events.ts'
import { ITEMS_PARAMETERS, MAX_LIMIT } from '../../ogc/request/items-query.ts'
import { type Account, createKey, openAccount } from '../../testing/account.ts'
import { points, publishText } from '../../testing/publish.ts'
import { type SignedInUser, signIn } from '../../testing/sign-in.ts'
import { openTestServer, type TestServer, temporaryFolder } from '../../testing/test-server.ts'

needs('python')

const HOOKS = join(import.meta.dirname, 'testing', 'schemathesis_hooks.py')
/** Hypothesis computes which characters a codec can encode, which takes seconds, once for all runs. */
const HYPOTHESIS_FOLDER = join(import.meta.dirname, '../../../../.cache/hypothesis')
const python = process.env['WAYLEAVE_TEST_PYTHON']
const skip = !python && 'needs the Python environment of npm test'

test('schemathesis finds nothing in either API definition', { skip }, async (t) => {
  const start = Date.now()
  const service = await openTestServer(t, {
    // A token is valid for 15 minutes, and on a busy machine the run takes longer: this clock runs slower.
    clock: () => new Date(start + (Date.now() - start) / 10),
    // Uploads are accepted and wait: compiling each of them would take most of the time.
    settings: { admins: ['admin@example.org'], tiles: false, signInRate: 1_000_000, publishJobs: 0 },
  })
  await publishText(service, 'points', 'points.geojson', points(40), { description: { title: 'Points' } })
  const admin = await openAccount(service, 'admin@example.org', {
    addOns: ['API_ACCESS', 'GIS_ACCESS', 'ARCHIVED_DATA'],
    credits: 1_000_000,
  })
  for (const table of ['removable', 'describable']) {
    await publishText(service, table, 'points.geojson', points(3))
  }
  const keys = await makeKeys(service, admin)
  // The administrator must keep their session and their rights.
  const users = {
    kept: await signIn(service, 'ada@example.org'),
    deleted: await signIn(service, 'eve@example.org'),
  }
  const folder = temporaryFolder(t)
  const config = join(folder, 'schemathesis.toml')
  writeFileSync(config, configuration(admin, keys, users))
  const world = {
    columns: ['number', 'name', 'half'],
    parameters: ITEMS_PARAMETERS,
    maxLimit: MAX_LIMIT,
    crs: [
      'http://www.opengis.net/def/crs/OGC/1.3/CRS84',
      'http://www.opengis.net/def/crs/EPSG/0/4326',
      'http://www.opengis.net/def/crs/EPSG/0/3857',
    ],
  }
  for (const path of ['/v1/openapi.json', '/v1/ogc/api?f=json']) {
    await t.test(path, async () => {
      // The first run makes it an open dataset, whose features need no key.
      if (path.includes('ogc')) await service.parts.publishing.unpublish('describable', operator)
      const child = spawn(
        join(dirname(python!), 'schemathesis'),
        [
          '--config-file',
          config,
          'run',
          `${service.url}${path}`,
          '--checks=all',
          '--max-examples=2',
          '--warnings=off',
          '--seed=1',
          // CPython 3.11 cannot parse source in two threads at once, which Hypothesis does.
          '--workers=1',
          '--continue-on-failure',
          '--generation-database=none',
          // A busy machine takes longer than the usual ten seconds for the first file of a format.
          '--request-timeout=120',
          '--max-response-time=120',
          '--no-color',
        ],
        {
          cwd: folder,
          env: {
            PATH: process.env['PATH'],
            // The order of sets decides which values are generated.
            PYTHONHASHSEED: process.env['PYTHONHASHSEED'] ?? '0',
            PYTHONPYCACHEPREFIX: process.env['PYTHONPYCACHEPREFIX'],
            // Without it, requests searches every environment variable for a proxy before each request.
            NO_PROXY: '127.0.0.1',
            HYPOTHESIS_STORAGE_DIRECTORY: HYPOTHESIS_FOLDER,
            WAYLEAVE_SCHEMATHESIS: JSON.stringify(world),
          },
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      )
      let output = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (data: Buffer) => {
          output += data
        })
      }
      const [status] = await once(child, 'close')
      assert.equal(
        status,
        0,
        output.slice(Math.max(0, output.search(/=+ (ERRORS|FAILURES) =+/))).slice(0, 20_000),
      )
      assert.match(output, /Coverage\n(.*\n)*.*Fuzzing/)
    })
  }
})

/** A key that reads and publishes, and for each route that changes keys one that it may change. */
async function makeKeys(service: TestServer, admin: Account) {
  const platform = async () =>
    service.parts.keys.createPlatform(operator, { name: 'Test', permissions: ['read', 'write'] })
  const personal = async () => createKey(service, admin, ['read'])
  return {
    used: await platform(),
    platform: { kept: await platform(), revoked: await platform(), deleted: await platform() },
    personal: { kept: await personal(), revoked: await personal(), deleted: await personal() },
  }
}

function configuration(
  admin: Account,
  keys: Awaited<ReturnType<typeof makeKeys>>,
  users: { kept: SignedInUser; deleted: SignedInUser },
): string {
  const operation = (name: string, parameters: Record<string, string>) => `
[[operations]]
include-name = ${JSON.stringify(name)}
[operations.parameters]
${Object.entries(parameters)
  .map(([parameter, value]) => `${JSON.stringify(parameter)} = ${JSON.stringify(value)}`)
  .join('\n')}
`
  const ofKeys = Object.entries({ '/v1/admin/keys': keys.platform, '/v1/api-keys': keys.personal })
  return `
hooks = ${JSON.stringify(HOOKS)}
[auth.openapi.key]
api_key = ${JSON.stringify(keys.used.secret)}
[auth.openapi.basic]
username = ${JSON.stringify(keys.used.secret)}
password = "x"
[auth.openapi.token]
bearer = ${JSON.stringify(admin.token)}
[phases.coverage]
# One wrong method for each path; refused-requests.test.ts tries rarer methods on some routes. documentation.test.ts
# and definition.test.ts prove that no route is missing from the definitions.
unexpected-methods = ["put"]
[parameters]
"path.collectionId" = "points"
"path.featureId" = "1"
"path.table" = "points"
"path.userId" = ${JSON.stringify(users.kept.userId)}
"path.file" = "points.csv"
"path.version" = 1
"path.organizationId" = ${JSON.stringify(admin.organizationId)}
${operation('GET /v1/dataset/{table}/files/{format}/{file}', { 'path.format': 'csv' })}
${operation('PATCH /v1/dataset/{table}', { 'path.table': 'describable' })}
${operation('DELETE /v1/admin/users/{userId}', { 'path.userId': users.deleted.userId })}
${operation('DELETE /v1/organization/{organizationId}', { 'path.organizationId': users.deleted.organizationId })}
${operation('PUT /v1/dataset/{table}', { 'path.table': 'uploads' })}
${operation('DELETE /v1/dataset/{table}', { 'path.table': 'removable' })}
${ofKeys
  .flatMap(([path, { kept, revoked, deleted }]) => [
    ...['GET /{keyId}', 'PATCH /{keyId}', 'POST /{keyId}/rotate', 'GET /{keyId}/usage'].map((name) =>
      operation(name.replace('/', `${path}/`), { 'path.keyId': kept.id }),
    ),
    operation(`POST ${path}/{keyId}/revoke`, { 'path.keyId': revoked.id }),
    operation(`DELETE ${path}/{keyId}`, { 'path.keyId': deleted.id }),
  ])
  .join('')}
`
}
