/**
 * Servers for tests, on SQLite or PostgreSQL.
 *
 * Which databases a test runs on: on both if the code under test has SQL that differs between them, or depends
 * on locks, transactions at the same instant, or notifications (the stores, changes, credits, keys, jobs and
 * backups). The contract test sends every kind of request on both. All other tests, of HTTP, validation,
 * documents and rules, run on SQLite alone, with `testOnce` or without a loop over `databaseKinds`.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Sandbox } from '@wayleave/geodata/compile'
import pg from 'pg'
import { lacks } from '../../../scripts/test-run/needs.ts'
import { type RunningServer, startServer } from '../assembly/start-server.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { childProcessWork, type DataWork } from '../base/data-work.ts'
import { type Config, readConfig } from '../base/settings/config.ts'
import { makeLogger } from '../http/observability/logger.ts'
import { cleanUp } from './cleanup.ts'
import { releaseDatabase, takeDatabase } from './database-pool.ts'
import { requireDocumentedStatus } from './documented-status.ts'
import { copyMigratedSqlite } from './migrated-template.ts'
import { sameProcessWork } from './processes/same-process-work.ts'

export type DatabaseKind = 'sqlite' | 'postgres'
export const databaseKinds: readonly DatabaseKind[] = lacks('postgres') ? ['sqlite'] : ['sqlite', 'postgres']
/** In a loop over `databaseKinds`: registers a test that does not depend on the database on one of them only. */
export function testOnce(kind: DatabaseKind, name: string, run: (t: TestContext) => Promise<void>): void {
  if (kind === 'sqlite') void test(name, run)
}

export interface TestSettings {
  database?: DatabaseKind
  /** An existing database, for a second node on it. */
  databaseUrl?: string
  dataDir?: string
  clock?: Clock
  settings?: Partial<Config>
  /** How long a stop waits for requests under way, in milliseconds. */
  grace?: number
  /** Compile and build exports in child processes, as the service does, for tests of these processes. */
  childProcesses?: boolean
  /** Replaces single computations. */
  work?: Partial<DataWork>
}

export interface TestServer extends RunningServer {
  config: Config
  /** Every line logged so far. */
  logLines: string[]
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>
}

export interface RequestOptions {
  token?: string
  key?: string
  body?: unknown
  headers?: Record<string, string>
}

export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
  body: any
  text: string
}

/** Starts a server on a free loopback port, with its own data folder and database, removed after the test. */
export async function openTestServer(t: TestContext, options: TestSettings = {}): Promise<TestServer> {
  const dataDir = options.dataDir ?? temporaryFolder(t)
  const databaseUrl =
    options.databaseUrl ?? (options.database === 'postgres' ? await temporaryDatabase(t) : null)
  if (!databaseUrl) await copyMigratedSqlite(dataDir)
  const config: Config = {
    ...readConfig({ environment: {}, file: null, flags: { port: '0' } }),
    dataDir,
    databaseUrl,
    // Tests send requests faster than users do: limits are only set in the tests of limits.
    keyRate: 1_000_000,
    // Tests that need tiles ask for them.
    tiles: false,
    keyBurst: 1_000_000,
    ownerRate: options.settings?.keyRate ?? 1_000_000,
    ownerBurst: options.settings?.keyBurst ?? 1_000_000,
    userRate: 1_000_000,
    addressRate: 1_000_000,
    signInRate: 1000,
    signInAddressRate: 1_000_000,
    // On every machine the same, and a clock of a test is in one thread only.
    threads: 1,
    // Tests change the clock arbitrarily.
    maxClockSkew: Number.MAX_SAFE_INTEGER,
    minFreeBytes: 0,
    // Tests compile in this process. To try the sandbox takes a process for every server.
    sandbox: 'off',
    // A machine that runs many tests at once stalls now and then.
    maxEventLoopDelay: 60_000,
    ...options.settings,
  }
  const logLines: string[] = []
  const log = makeLogger('debug', (line) => logLines.push(line))
  const overrides = {
    work: {
      ...(options.childProcesses ? childProcessWork(new Sandbox('auto')) : sameProcessWork),
      ...options.work,
    },
    // On a busy machine a reply may take longer than the service waits, which must not look like an outage.
    redisReplyMs: 30_000,
  }
  const service = await startServer(
    config,
    log,
    options.clock ?? systemClock,
    undefined,
    options.grace,
    overrides,
  )
  cleanUp(t, () => service.stop())
  // With PostgreSQL, old rows are deleted by the clock of the database, and what a test writes by its own clock may
  // be old. The next round is after minutes.
  if (options.clock) await service.parts.housekeeping.whenIdle()
  const checkedRequest: TestServer['request'] = async (method, path, options) => {
    const answer = await request(service.url, method, path, options)
    await requireDocumentedStatus(service.app, method, path, answer.status)
    return answer
  }
  return { ...service, config, logLines, request: checkedRequest }
}

async function request(
  url: string,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Answer> {
  const headers: Record<string, string> = { ...options.headers }
  if (options.token) headers['authorization'] = `Bearer ${options.token}`
  if (options.key) headers['x-api-key'] = options.key
  let body: string | undefined
  if (options.body !== undefined) {
    headers['content-type'] ??= 'application/json'
    body = typeof options.body === 'string' ? options.body : JSON.stringify(options.body)
  }
  const response = await fetch(url + path, { method, headers, body, redirect: 'manual' })
  const text = await response.text()
  const json = /json/.test(response.headers.get('content-type') ?? '') && text !== ''
  return {
    status: response.status,
    headers: response.headers,
    body: json ? JSON.parse(text) : undefined,
    text,
  }
}

export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-test-'))
  cleanUp(t, () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A database without tables on the test runner's PostgreSQL, for tests of migrations, restores and moves. */
export function emptyDatabase(t: TestContext): Promise<string> {
  return createDatabase(t, postgresServer())
}

/** A database with all migrations and no other rows, on the test runner's PostgreSQL. */
export async function temporaryDatabase(t: TestContext): Promise<string> {
  const server = postgresServer()
  const url = await takeDatabase(server)
  cleanUp(t, () => releaseDatabase(server, url))
  return url
}

export function postgresServer(): string {
  const server = process.env['WAYLEAVE_TEST_POSTGRES_URL']
  if (!server) throw new Error('WAYLEAVE_TEST_POSTGRES_URL is not set: run the tests with npm test.')
  return server
}

async function createDatabase(t: TestContext, server: string): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const run = async (statement: string) => {
    const client = new pg.Client({ connectionString: server })
    await client.connect()
    await client.query(statement).finally(() => client.end())
  }
  await run(`create database ${name}`)
  cleanUp(t, () => run(`drop database ${name} with (force)`))
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}
