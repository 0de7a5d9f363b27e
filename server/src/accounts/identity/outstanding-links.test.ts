import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SECOND } from '../../base/clock.ts'
import { askForLink } from '../../testing/sign-in.ts'
import { testClock } from '../../testing/test-clock.ts'
import { databaseKinds, openTestServer } from '../../testing/test-server.ts'

for (const database of databaseKinds) {
  test(`of links asked for at the same instant, on two nodes too, three work, on ${database}`, async (t) => {
    const first = await openTestServer(t, { database })
    const { databaseUrl, dataDir } = first.config
    const nodes = databaseUrl ? [first, await openTestServer(t, { databaseUrl, dataDir })] : [first]
    for (let round = 0; round < 5; round++) {
      const email = `ada${round}@example.org`
      const asked = Array.from({ length: 16 }, (_, i) => askForLink(nodes[i % nodes.length]!, email))
      const mails = await Promise.all(asked)
      const answers = await Promise.all(
        mails.map(({ token }) => first.request('POST', '/v1/auth/token', { body: { token } })),
      )
      assert.equal(answers.filter(({ status }) => status === 200).length, 3)
    }
  })

  test(`the newest link works after the clock was set back, and two others, on ${database}`, async (t) => {
    const { clock, pass } = testClock()
    const service = await openTestServer(t, { database, clock })
    const email = 'ada@example.org'
    const mails = []
    for (const seconds of [0, 1, 2]) {
      pass(seconds * SECOND)
      mails.push(await askForLink(service, email))
    }
    pass(-60 * SECOND)
    mails.push(await askForLink(service, email))
    const redeem = async (token: string) =>
      (await service.request('POST', '/v1/auth/token', { body: { token } })).status
    const statuses = []
    for (const { token } of mails) statuses.push(await redeem(token))
    assert.deepEqual(statuses, [401, 200, 200, 200])
  })
}
