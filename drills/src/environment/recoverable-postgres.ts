import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findPostgres, givenToOwner } from '../../../scripts/test-servers/postgres.ts'
import type { DrillRun } from '../drill.ts'
import { freePort } from './free-port.ts'
import { waitUntil } from './processes.ts'

const READY_WITHIN_MS = 60_000
const RESTORE_POINT = 'drill'

/** A private PostgreSQL that archives its log, so that it can be recovered to an earlier moment. */
export class RecoverablePostgres {
  readonly url: string
  readonly #programs: string
  readonly #folder: string
  readonly #asOwner: string[]
  readonly #port: number
  #child: ChildProcess | null = null

  private constructor(folder: string, port: number, password: string) {
    this.#programs = findPostgres()!
    this.#folder = folder
    this.#asOwner = givenToOwner(folder)
    this.#port = port
    this.url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
  }

  static async start(run: DrillRun): Promise<RecoverablePostgres> {
    const folder = mkdtempSync(join(tmpdir(), 'wayleave-drill-postgres-'))
    run.cleanUp(() => rmSync(folder, { recursive: true, force: true }))
    const password = randomBytes(12).toString('hex')
    const postgres = new RecoverablePostgres(folder, await freePort(), password)
    run.cleanUp(() => postgres.#stop())
    const passwordFile = join(folder, 'password')
    writeFileSync(passwordFile, password, { mode: 0o644 })
    const choices = ['--username', 'postgres', '--pwfile', passwordFile, '--auth', 'md5', '--no-sync']
    await postgres.#run('initdb', '--pgdata', postgres.#data, ...choices)
    await postgres.#runShell('mkdir', join(folder, 'log'))
    await postgres.#serve()
    return postgres
  }

  /** Makes a base backup of the server while it runs. */
  async backUp(): Promise<void> {
    await this.#runShell('rm', '-rf', this.#base)
    await this.#run(
      'pg_basebackup',
      '-d',
      this.url,
      '-D',
      this.#base,
      '-X',
      'none',
      '--checkpoint=fast',
      '--no-sync',
    )
  }

  /** The moment that `recover` returns to. Its log is archived when this returns. */
  async markMoment(): Promise<void> {
    await this.#query(`select pg_create_restore_point('${RESTORE_POINT}')`)
    const segment = await this.#query('select pg_walfile_name(pg_current_wal_lsn())')
    await this.#query('select pg_switch_wal()')
    if (!(await waitUntil(() => existsSync(join(this.#folder, 'log', segment)), READY_WITHIN_MS)))
      throw new Error('PostgreSQL did not archive its log.')
  }

  /** Stops the server and starts it again from the base backup, recovered to the marked moment. */
  async recover(): Promise<void> {
    await this.#stop()
    await this.#runShell('rm', '-rf', this.#data)
    await this.#runShell('cp', '-a', this.#base, this.#data)
    await this.#runShell('touch', join(this.#data, 'recovery.signal'))
    await this.#serve()
    const isPromoted = async () => (await this.#query('select pg_is_in_recovery()')) === 'f'
    if (!(await waitUntil(isPromoted, READY_WITHIN_MS))) throw new Error('PostgreSQL did not recover.')
  }

  get #data(): string {
    return join(this.#folder, 'data')
  }

  get #base(): string {
    return join(this.#folder, 'base')
  }

  async #serve(): Promise<void> {
    const log = join(this.#folder, 'log')
    const settings = {
      listen_addresses: '127.0.0.1',
      port: this.#port,
      unix_socket_directories: this.#folder,
      max_connections: 100,
      fsync: 'off',
      wal_level: 'replica',
      archive_mode: 'on',
      // A timeline that a recovery has left may have a segment of the same name.
      archive_command: `cp %p ${log}/%f`,
      restore_command: `cp ${log}/%f %p`,
      recovery_target_name: RESTORE_POINT,
      recovery_target_action: 'promote',
      recovery_target_timeline: 'current',
      timezone: 'UTC',
    }
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const [program, ...args] = [
      ...this.#asOwner,
      join(this.#programs, 'postgres'),
      '-D',
      this.#data,
      ...options,
    ]
    this.#child = spawn('setpriv', ['--pdeathsig', 'INT', '--', program!, ...args], {
      cwd: this.#folder,
      stdio: 'ignore',
    })
    const isReady = () =>
      this.#query('select 1').then(
        () => true,
        () => false,
      )
    if (!(await waitUntil(isReady, READY_WITHIN_MS))) throw new Error('PostgreSQL did not start.')
  }

  async #stop(): Promise<void> {
    const child = this.#child
    this.#child = null
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGINT')
    await exit
  }

  async #query(statement: string): Promise<string> {
    const args = ['--no-psqlrc', '-v', 'ON_ERROR_STOP=1', '-At', '-d', this.url, '-c', statement]
    const { stdout } = await promisify(execFile)(join(this.#programs, 'psql'), args)
    return stdout.trim()
  }

  async #run(name: string, ...args: string[]): Promise<void> {
    await this.#runShell(join(this.#programs, name), ...args)
  }

  async #runShell(...command: string[]): Promise<void> {
    const [program, ...args] = [...this.#asOwner, ...command]
    await promisify(execFile)(program!, args, { cwd: this.#folder })
  }
}
