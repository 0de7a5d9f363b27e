import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KyselyPlugin } from 'kysely'
import { MINUTE, plus, systemClock } from '../../base/clock.ts'
import { openDatabase } from '../../base/database/open.ts'
import { newId } from '../../base/id.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { temporaryFolder } from '../../testing/test-server.ts'
import { hashToken } from '../access/random-token.ts'
import { hashCode } from './code.ts'
import { insertLink } from './link-store.ts'
import { SignIn, type SignInOptions } from './sign-in.ts'

const ORIGIN = { actor: 'system', address: null, requestId: null }

test('a wrong code runs the same statements for every address, whether or not a mail went to it', async (t) => {
  const database = await openDatabase({ databaseUrl: null, dataDir: temporaryFolder(t) })
  cleanUp(t, () => database.close())
  const statements: string[] = []
  const recorder: KyselyPlugin = {
    transformQuery: ({ node }) => {
      statements.push(node.kind)
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const signIn = new SignIn({
    database: { ...database, db: database.db.withPlugin(recorder) },
    clock: systemClock,
    refusals: { note: () => {} },
  } as unknown as SignInOptions)
  const addLink = (email: string, code: string) =>
    database.db.transaction().execute((tx) =>
      insertLink(database, tx, {
        id: newId('lnk'),
        email,
        token_hash: hashToken(email + code),
        code_hash: hashCode(code),
        request_hash: hashToken('of the user'),
        bound: 0,
        wrong_codes: 0,
        created_at: systemClock().toISOString(),
        expires_at: plus(systemClock(), MINUTE).toISOString(),
        used_at: null,
      }),
    )
  const workOf = async (email: string, request?: string) => {
    statements.length = 0
    await assert.rejects(signIn.redeemCode(email, '000000', request, ORIGIN), { code: 'sign-in-failed' })
    return statements.join()
  }
  const countWrong = async () => (await database.db.selectFrom('wrong_codes').selectAll().execute()).length
  await addLink('known@example.org', '111111')
  const unknown = await workOf('unknown@example.org')
  assert.match(unknown, /InsertQueryNode/)
  assert.equal(await countWrong(), 0, 'a guess without a link is not counted')
  assert.equal(await workOf('known@example.org', 'of another'), unknown)
  assert.equal(await countWrong(), 0, 'nor is a guess at a code of another request')
  // The code of a link is void after five wrong ones, and all codes of an address after ten in a day.
  for (let guess = 1; guess <= 12; guess++) {
    if (guess === 6) await addLink('known@example.org', '222222')
    assert.equal(await workOf('known@example.org'), unknown)
    assert.equal(await countWrong(), Math.min(guess, 10))
  }
})
