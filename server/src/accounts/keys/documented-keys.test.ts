import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { operator } from '../../base/events/events.ts'
import { documentedExamples } from '../../testing/documented-examples.ts'
import { EXAMPLE_URL } from '../../testing/run-examples.ts'
import { signIn } from '../../testing/sign-in.ts'
import { openTestServer } from '../../testing/test-server.ts'

needs('tools')

const run = promisify(execFile)

test('the examples of the page on keys work', async (t) => {
  const service = await openTestServer(t)
  const { token, organizationId } = await signIn(service, 'ada@example.org')
  const { keys, administration } = service.parts
  const admin = await keys.createPlatform(operator, { name: 'Shop', permissions: ['admin'] })
  const examples = documentedExamples().filter(({ page }) => page === 'keys-and-access.md')
  assert.equal(examples.length, 2)
  for (const { code } of examples) {
    const command = code
      .replace(EXAMPLE_URL, service.url)
      .replace('ACCESS_TOKEN', token)
      .replace('ADMIN_KEY', admin.secret)
      .replace('ORGANIZATION_ID', organizationId)
      .replace('curl', 'curl --fail-with-body --silent')
    await run('bash', ['-euc', command])
  }
  const listed = await service.request('GET', '/v1/api-keys/my-keys', { token })
  assert.deepEqual(listed.body.data[0].allowedOrigins, ['https://maps.example.org'])
  assert.equal((await administration.organization(organizationId)).credits.balance, 100)
})
