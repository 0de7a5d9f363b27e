import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startThrowAwayServer, type ThrowAwayServer } from './throw-away-server.ts'

const debianVersions = '/usr/lib/postgresql'

/** The folder of PostgreSQL's programs, for the newest version that also has PostGIS; null without one. */
export function findPostgres(): string | null {
  if (!existsSync(debianVersions)) return null
  const versions = readdirSync(debianVersions)
    .filter((version) => existsSync(join(debianVersions, version, 'bin', 'initdb')))
    .filter((version) => existsSync(`/usr/share/postgresql/${version}/extension/postgis.control`))
    .sort((a, b) => Number(b) - Number(a))
  return versions[0] ? join(debianVersions, versions[0], 'bin') : null
}

/** Starts a private PostgreSQL on loopback. Its URL is a superuser's: tests create and drop databases. */
export function startPostgres(): Promise<ThrowAwayServer> {
  const programs = findPostgres()
  if (!programs) throw new Error('PostgreSQL with PostGIS is not installed')
  const password = randomBytes(18).toString('base64url')

  return startThrowAwayServer({
    name: 'postgres',
    stopSignal: 'SIGINT',
    async prepare(folder, port) {
      const asOwner = givenToOwner(folder)
      const passwordFile = join(folder, 'password')
      writeFileSync(passwordFile, password, { mode: 0o644 })
      const data = join(folder, 'data')
      const initdb = [join(programs, 'initdb'), '--pgdata', data, '--username', 'postgres']
      // SCRAM would take both sides several milliseconds of processor time for each of thousands of connections.
      const choices = ['--pwfile', passwordFile, '--auth', 'md5', '--no-sync']
      const [program, ...args] = [...asOwner, ...initdb, ...choices, '--encoding=UTF8', '--locale=C.UTF-8']
      execFileSync(program!, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
      rmSync(passwordFile)
      const settings = {
        listen_addresses: '127.0.0.1',
        port,
        unix_socket_directories: folder,
        max_connections: 200,
        // A temporary database need not survive a power cut, and tests are faster without durability.
        fsync: 'off',
        full_page_writes: 'off',
        synchronous_commit: 'off',
        wal_level: 'minimal',
        max_wal_senders: 0,
        max_wal_size: '4GB',
        timezone: 'UTC',
      }
      const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
      return {
        command: [...asOwner, join(programs, 'postgres'), '-D', data, ...options],
        url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
      }
    },
    async isReady(port) {
      const check = spawnSync(join(programs, 'pg_isready'), ['-q', '-h', '127.0.0.1', '-p', String(port)])
      return check.status === 0
    },
  })
}

/** What a command of PostgreSQL begins with. It refuses to run as root; then the `postgres` user owns the folder and the processes. */
export function givenToOwner(folder: string): string[] {
  if (process.getuid?.() !== 0) return []
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  chownSync(folder, idOf('-u'), idOf('-g'))
  return ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups', '--pdeathsig=INT', '--']
}
