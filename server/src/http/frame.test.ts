import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databaseKinds, openTestService } from '../testing/test-service.ts'

for (const database of databaseKinds) {
  test(`the service answers on ${database}`, async (t) => {
    const service = await openTestService(t, { database })
    assert.equal((await service.request('GET', '/health')).status, 200)
    assert.equal((await service.request('GET', '/ready')).status, 200)
  })
}
