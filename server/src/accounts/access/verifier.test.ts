import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { MINUTE, plus } from '../../base/clock.ts'
import { openChanges } from '../../base/database/changes/open-changes.ts'
import { openDatabase } from '../../base/database/open.ts'
import { newId } from '../../base/id.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { databaseKinds, temporaryDatabase, temporaryFolder, testOnce } from '../../testing/test-server.ts'
import { timeVerification } from '../../testing/time-verification.ts'
import { deleteKey, insertKey, NO_PREVIOUS_SECRET, type StoredKey, updateKey } from '../keys/store.ts'
import { hashOf, newSecret, prefixOf } from './secret.ts'
import { Verifier } from './verifier.ts'

const format = { literal: 'svc', env: 'live' }

/** A verifier on a database of its own, which counts its queries. */
async function open(t: TestContext, kind: 'sqlite' | 'postgres') {
  const databaseUrl = kind === 'postgres' ? await temporaryDatabase(t) : null
  const database = await openDatabase({ databaseUrl, dataDir: temporaryFolder(t) })
  cleanUp(t, () => database.close())
  const changes = await openChanges(database, { nodeId: newId('node'), serving: true })
  cleanUp(t, () => changes.close())
  let now = new Date('2026-11-15T12:00:00Z')
  let questions = 0
  const db = database.db.withPlugin({
    transformQuery: ({ node }) => {
      questions++
      return node
    },
    transformResult: async ({ result }) => result,
  })
  const verifier = new Verifier({
    db,
    changes,
    clock: () => now,
    format,
    rate: { requests: 600, burst: 100 },
    ownerRate: { requests: 600, burst: 100 },
    administrators: new Set(),
  })
  const insert = async (values: Partial<StoredKey> = {}) => {
    const secret = newSecret(format)
    const key: StoredKey = {
      id: newId('key'),
      name: 'Map',
      scope: 'platform',
      permissions: '["read"]',
      prefix: prefixOf(secret),
      secret_hash: hashOf(secret),
      kind: 'key',
      session_id: null,
      organization_id: null,
      user_id: null,
      rate: null,
      burst: null,
      expires_at: null,
      created_at: now.toISOString(),
      rotated_at: null,
      revoked_at: null,
      last_used_at: null,
      allowed_origins: null,
      allowed_addresses: null,
      test: 0,
      credit_limit: null,
      assistant: null,
      ...NO_PREVIOUS_SECRET,
      ...values,
    }
    await database.db.transaction().execute((tx) => insertKey(tx, key))
    return { id: key.id, secret }
  }
  return {
    database,
    changes,
    verifier,
    insert,
    passed: (ms: number) => {
      now = plus(now, ms)
    },
    now: () => now,
    asked: () => questions,
  }
}

for (const kind of databaseKinds) {
  testOnce(
    kind,
    `the database is asked once for a key, however many requests come at once (${kind})`,
    async (t) => {
      const { verifier, insert, asked } = await open(t, kind)
      const { id, secret } = await insert()
      const grants = await Promise.all(Array.from({ length: 50 }, async () => verifier.verify(secret)))
      assert.ok(grants.every((grant) => grant?.keyId === id))
      assert.equal(asked(), 1)
      assert.equal(verifier.peek(secret, {})?.keyId, id)
      assert.equal(asked(), 1)
    },
  )

  testOnce(
    kind,
    `a connection that sends another key is granted what that one opens (${kind})`,
    async (t) => {
      const { verifier, insert } = await open(t, kind)
      const [first, second] = [await insert(), await insert()]
      for (const { secret } of [first, second]) await verifier.verify(secret)
      const connection = {}
      for (const { id, secret } of [first, second, second, first]) {
        assert.equal(verifier.peek(secret, connection)?.keyId, id)
      }
      assert.equal(verifier.peek(newSecret(format), connection), null)
    },
  )

  testOnce(kind, `an unknown secret is asked for once, a malformed one never (${kind})`, async (t) => {
    const { verifier, asked } = await open(t, kind)
    for (const malformed of ['', 'x', 'svc_live_', `${newSecret(format).slice(0, -1)}!`]) {
      assert.equal(verifier.peek(malformed, {}), null)
      assert.equal(await verifier.verify(malformed), null)
    }
    assert.equal(asked(), 0)
    const unknown = newSecret(format)
    assert.equal(await verifier.verify(unknown), null)
    assert.equal(await verifier.verify(unknown), null)
    assert.equal(verifier.peek(unknown, {}), null)
    assert.equal(asked(), 1)
  })

  testOnce(kind, `expiry is checked at every use, also of what the cache holds (${kind})`, async (t) => {
    const { verifier, insert, passed, now } = await open(t, kind)
    const { id, secret } = await insert({ expires_at: plus(now(), MINUTE).toISOString() })
    assert.equal((await verifier.verify(secret))?.keyId, id)
    passed(MINUTE - 1)
    assert.equal((await verifier.verify(secret))?.keyId, id)
    passed(1)
    assert.equal(await verifier.verify(secret), null)
  })

  test(`a change is in force when its commit returns, for the key and for its owners (${kind})`, async (t) => {
    const { database, changes, verifier, insert } = await open(t, kind)
    const [organizationId, userId] = [newId('org'), newId('usr')]
    const at = new Date().toISOString()
    await database.db
      .insertInto('organizations')
      .values({ id: organizationId, name: 'A', credits: 0, created_at: at })
      .execute()
    await database.db
      .insertInto('users')
      .values({ id: userId, email: 'a@example.org', created_at: at, last_sign_in_at: null })
      .execute()
    await database.db
      .insertInto('members')
      .values({ user_id: userId, organization_id: organizationId, permissions: '[]', joined_at: at })
      .execute()
    const shared = await insert({ scope: 'organization', organization_id: organizationId })
    const own = await insert({ scope: 'user', organization_id: organizationId, user_id: userId })
    const addOns = async ({ secret }: { secret: string }) => [
      ...((await verifier.verify(secret))?.addOns ?? ['refused']),
    ]
    assert.deepEqual(await addOns(shared), [])
    assert.deepEqual(await addOns(own), [])

    await changes.commit(async (tx, changed) => {
      const row = { organization_id: organizationId, add_on: 'GIS_ACCESS', granted_at: at }
      await tx.insertInto('add_ons').values(row).execute()
      changed('organization', organizationId)
    })
    assert.deepEqual(await addOns(shared), ['GIS_ACCESS'])
    assert.deepEqual(await addOns(own), ['GIS_ACCESS'])

    await changes.commit(async (tx, changed) => {
      await tx.deleteFrom('members').where('user_id', '=', userId).execute()
      changed('user', userId)
    })
    assert.deepEqual(await addOns(shared), ['GIS_ACCESS'])
    assert.deepEqual(await addOns(own), ['refused'])

    await changes.commit(async (tx, changed) => {
      await updateKey(tx, shared.id, { permissions: '["read:parcels"]' })
      changed('key', shared.id)
    })
    assert.deepEqual([...(await verifier.verify(shared.secret))!.permissions], ['read:parcels'])

    await changes.commit(async (tx, changed) => {
      await deleteKey(tx, shared.id)
      changed('key', shared.id)
    })
    assert.deepEqual(await addOns(shared), ['refused'])
  })

  test(`what was read before a change is not kept after it (${kind})`, async (t) => {
    const { changes, verifier, insert } = await open(t, kind)
    for (let round = 0; round < 20; round++) {
      const { id, secret } = await insert()
      const reading = [verifier.verify(secret), verifier.verify(secret)]
      const revoking = changes.commit(async (tx, changed) => {
        await updateKey(tx, id, { revoked_at: new Date().toISOString() })
        changed('key', id)
      })
      const more = (async () => {
        for (let i = 0; i < 20; i++) await verifier.verify(secret)
      })()
      await revoking
      assert.equal(await verifier.verify(secret), null)
      await Promise.all([...reading, more])
      assert.equal(await verifier.verify(secret), null)
    }
  })

  testOnce(
    kind,
    `a key's own rate goes before the settings', and a session's purchases are its user's in one organization (${kind})`,
    async (t) => {
      const { database, verifier, insert } = await open(t, kind)
      const user = { id: newId('usr'), email: 'a@example.org', created_at: '', last_sign_in_at: null }
      await database.db.insertInto('users').values(user).execute()
      const plain = await insert()
      const slow = await insert({ rate: 30 })
      const bursty = await insert({ rate: 30, burst: 300 })
      const session = await insert({ kind: 'session', scope: 'organization', user_id: user.id })
      assert.deepEqual((await verifier.verify(plain.secret))?.bucket.rate, { requests: 600, burst: 100 })
      assert.deepEqual((await verifier.verify(slow.secret))?.bucket.rate, { requests: 30, burst: 30 })
      assert.deepEqual((await verifier.verify(bursty.secret))?.bucket.rate, { requests: 30, burst: 300 })
      assert.equal((await verifier.verify(plain.secret))?.payer, plain.id)
      assert.equal((await verifier.verify(session.secret))?.payer, `user:${user.id}@null`)
    },
  )
}

test('a cached key is verified at once, without waiting for anything', async () => {
  assert.ok((await timeVerification(100)) > 0)
})

test('without trust no request joins a load that began before it', async (t) => {
  const database = await openDatabase({ databaseUrl: null, dataDir: temporaryFolder(t) })
  cleanUp(t, () => database.close())
  let questions = 0
  const db = database.db.withPlugin({
    transformQuery: ({ node }) => {
      questions++
      return node
    },
    transformResult: async ({ result }) => result,
  })
  const untrusted = await openChanges(database, { nodeId: newId('node'), serving: true })
  cleanUp(t, () => untrusted.close())
  const changes = { ...untrusted, trusted: () => false }
  const rate = { requests: 600, burst: 100 }
  const verifier = new Verifier({
    db,
    changes,
    clock: () => new Date(),
    format,
    rate,
    ownerRate: rate,
    administrators: new Set(),
  })
  const secret = newSecret(format)
  assert.deepEqual(await Promise.all([verifier.verify(secret), verifier.verify(secret)]), [null, null])
  assert.equal(questions, 2)
})
