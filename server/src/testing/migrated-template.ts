import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { migrations } from '../base/database/migrations/migrations.ts'
import { openDatabase } from '../base/database/open.ts'

let template: Promise<string> | undefined
let sqliteTemplate: Promise<Buffer> | undefined
let isFirstSqlite = true

/**
 * Writes a database that has all migrations and no rows into an empty data folder. The first server of a process
 * applies the migrations itself: a template pays off for the others.
 */
export async function copyMigratedSqlite(dataDir: string): Promise<void> {
  if (!existsSync(dataDir) || readdirSync(dataDir).length > 0) return
  if (isFirstSqlite) {
    isFirstSqlite = false
    return
  }
  sqliteTemplate ??= migrateSqlite()
  writeFileSync(join(dataDir, 'wayleave.db'), await sqliteTemplate, { mode: 0o600 })
}

async function migrateSqlite(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-template-'))
  try {
    // Closing writes the log into the file.
    await (await openDatabase({ dataDir: folder, databaseUrl: null })).close()
    return readFileSync(join(folder, 'wayleave.db'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * The name of a database on the test runner's PostgreSQL that has all migrations and no rows. A copy of it is
 * made in less than half the time that the migrations take. Test processes share it: it is created once for
 * each version of the migrations, and stays until the server is removed.
 */
export function migratedTemplate(server: string): Promise<string> {
  template ??= createTemplate(server)
  return template
}

async function createTemplate(server: string): Promise<string> {
  const statements = migrations.map((migration) => migration.statements('postgres'))
  const digest = createHash('sha256').update(JSON.stringify(statements)).digest('hex').slice(0, 16)
  const name = `template_${digest}`
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    // Other processes wait until it is complete. The lock ends with the connection.
    await client.query('select pg_advisory_lock(hashtext($1))', [name])
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (rowCount === 0) await migrateNew(client, server, name)
  } finally {
    await client.end()
  }
  return name
}

/** Renamed when it is complete: if this process is killed before, the next one starts anew. */
async function migrateNew(client: pg.Client, server: string, name: string): Promise<void> {
  const unfinished = `${name}_unfinished`
  await client.query(`drop database if exists ${unfinished} with (force)`)
  await client.query(`create database ${unfinished}`)
  const url = new URL(server)
  url.pathname = `/${unfinished}`
  // Its connections are closed, because PostgreSQL copies only databases that are not in use.
  await (await openDatabase({ dataDir: tmpdir(), databaseUrl: url.href })).close()
  await client.query(`alter database ${unfinished} rename to ${name}`)
}
