import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { lacks, needs } from '../../../scripts/test-run/needs.ts'
import { cleanUp } from './cleanup.ts'
import { releaseDatabase, takeDatabase } from './database-pool.ts'
import { postgresServer } from './test-server.ts'

needs('postgres')

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client
}

/** All rows and the next numbers of sequences. */
async function contentOf(url: string): Promise<unknown> {
  const client = await connect(url)
  const { rows: tables } = await client.query(
    "select tablename, query_to_xml('select * from ' || quote_ident(tablename), true, false, '')::text as rows from pg_tables where schemaname = 'public' order by 1",
  )
  const { rows: sequences } = await client.query(
    "select sequencename, last_value from pg_sequences where schemaname = 'public' order by 1",
  )
  await client.end()
  return { tables, sequences }
}

test('a database that a test has used is emptied for the next one', { skip: lacks('postgres') }, async () => {
  const url = await takeDatabase(postgresServer())
  const before = await contentOf(url)
  const client = await connect(url)
  await client.query('update change_number set number = 5')
  await client.query('delete from migrations')
  await client.end()
  assert.notDeepEqual(await contentOf(url), before)
  await releaseDatabase(postgresServer(), url)
  assert.equal(await takeDatabase(postgresServer()), url)
  assert.deepEqual(await contentOf(url), before)
  await releaseDatabase(postgresServer(), url)
})

test('a database with another schema, or with connections, is not used again', {
  skip: lacks('postgres'),
}, async (t) => {
  const changed = await takeDatabase(postgresServer())
  const client = await connect(changed)
  await client.query('alter table change_number add column more text')
  await client.end()
  await releaseDatabase(postgresServer(), changed)
  const connected = await takeDatabase(postgresServer())
  assert.notEqual(connected, changed)
  const open = await connect(connected)
  open.on('error', () => {})
  cleanUp(t, () => open.end().catch(() => {}))
  await releaseDatabase(postgresServer(), connected)
  const next = await takeDatabase(postgresServer())
  assert.notEqual(next, connected)
  await releaseDatabase(postgresServer(), next)
})
