import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askForLink } from '../testing/sign-in.ts'
import { databaseKinds, openTestServer } from '../testing/test-server.ts'

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
}
