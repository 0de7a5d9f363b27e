import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operator } from '../../base/events/events.ts'
import { openTestServer } from '../../testing/test-server.ts'
import { readMemberAddresses } from './notice-store.ts'

test('a member of several organizations gets the notices of each, by the permissions there', async (t) => {
  const { members, organizations, userAdministration, database } = (await openTestServer(t)).parts
  const [first, second] = [
    await organizations.create(operator, 'First'),
    await organizations.create(operator, 'Second'),
  ]
  await members.add(operator, first.id, 'ada@example.org')
  const { userId } = await members.add(operator, second.id, 'ada@example.org', ['BILLING_VIEW'])
  const read = (permission: 'BILLING_VIEW' | 'MEMBER_MANAGE' | null) =>
    readMemberAddresses(database.db, second.id, permission)
  assert.deepEqual(await read(null), ['ada@example.org'])
  assert.deepEqual(await read('BILLING_VIEW'), ['ada@example.org'])
  assert.deepEqual(await read('MEMBER_MANAGE'), [])
  await userAdministration.block(operator, userId, 'Left the company')
  assert.deepEqual(await read(null), [])
})
