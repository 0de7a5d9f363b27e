import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findPostgres } from '../../../scripts/test-servers/postgres.ts'
import type { DrillRun } from '../drill.ts'

/** Runs one of PostgreSQL's own programs, which must succeed. */
async function runProgram(name: string, args: string[]): Promise<string> {
  const programs = findPostgres()
  if (!programs) throw new Error('PostgreSQL is not installed')
  const { stdout } = await promisify(execFile)(join(programs, name), args, { maxBuffer: 1 << 26 })
  return stdout
}

function runSql(url: string, statement: string): Promise<string> {
  return runProgram('psql', ['--no-psqlrc', '-v', 'ON_ERROR_STOP=1', '-At', '-d', url, '-c', statement])
}

function serverUrl(): string {
  const url = process.env['WAYLEAVE_TEST_POSTGRES_URL']
  if (!url) throw new Error('WAYLEAVE_TEST_POSTGRES_URL is not set: npm run drills and npm test set it.')
  return url
}

/** Creates a database for the run, which is dropped at its end. */
export async function createDatabase(run: DrillRun): Promise<string> {
  const server = serverUrl()
  const name = `drill_${randomBytes(8).toString('hex')}`
  await runSql(server, `create database ${name}`)
  run.cleanUp(() => runSql(server, `drop database if exists ${name} with (force)`))
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/** Makes a backup of the current database. */
export async function dumpDatabase(url: string, file: string): Promise<void> {
  await runProgram('pg_dump', ['--format=custom', '--file', file, '--dbname', url])
}

/**
 * Replaces the database with a backup, as an operator does: connections are closed, and the new database
 * takes over the name.
 */
export async function restoreDatabase(url: string, file: string): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  await runSql(serverUrl(), `drop database ${name} with (force)`)
  await runSql(serverUrl(), `create database ${name}`)
  await runProgram('pg_restore', ['--no-owner', '--exit-on-error', '--dbname', url, file])
}
