import { openDatabase } from '../../base/database/open.ts'

/** Run by a test in a separate process: commits rows and prints each id once it is committed. */
const { db } = await openDatabase({ dataDir: process.argv[2]!, databaseUrl: null })
for (let i = 0; i < 100_000; i++) {
  const id = `user-${i}`
  await db.insertInto('users').values({ id, email: id, created_at: 'x', last_sign_in_at: null }).execute()
  process.stdout.write(`${id}\n`)
}
