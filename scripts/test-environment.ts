import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DebianNeed, ensureDebianPackages, findProgram, hasProgram } from './debian.ts'
import { hasFaketime } from './drills/fake-clock.ts'
import { findPostgres, startPostgres } from './postgres.ts'
import { ensurePromtool } from './promtool.ts'
import { canMakeVirtualEnvironment, ensurePython } from './python.ts'
import { startRedis } from './redis.ts'

const root = join(import.meta.dirname, '..')
const chromiumNames = ['chromium', 'chromium-browser', 'google-chrome']

const debianNeeds: DebianNeed[] = [
  { package: 'postgresql-15', isPresent: () => findPostgres() !== null },
  { package: 'postgresql-15-postgis-3', isPresent: () => findPostgres() !== null },
  { package: 'redis-server', isPresent: () => hasProgram('redis-server') },
  { package: 'gdal-bin', isPresent: () => hasProgram('ogr2ogr') && hasProgram('ogrinfo') },
  { package: 'chromium', isPresent: () => findProgram(...chromiumNames) !== null },
  // Users paste curl lines: the console's test does so too.
  { package: 'curl', isPresent: () => hasProgram('curl') },
  // Shows that files are synced before they are renamed.
  { package: 'strace', isPresent: () => hasProgram('strace') },
  { package: 'r-cran-sf', isPresent: () => existsSync('/usr/lib/R/site-library/sf/shape') },
  // The drills move the clock of a server, and cut the power of a file system of their own.
  { package: 'faketime', isPresent: hasFaketime },
  {
    package: 'e2fsprogs',
    isPresent: () => existsSync('/usr/sbin/mkfs.ext4') || existsSync('/sbin/mkfs.ext4'),
  },
  { package: 'python3-venv', isPresent: canMakeVirtualEnvironment },
]

export interface TestEnvironment {
  /** What the tests read from their environment. */
  variables: Record<string, string>
  stop(): Promise<void>
}

/** Brings up everything the tests need beyond npm's packages. A database that the caller names is kept. */
export async function startTestEnvironment(): Promise<TestEnvironment> {
  ensureDebianPackages(debianNeeds)
  const python = ensurePython(join(root, '.cache', 'venv'), join(root, 'scripts', 'test-requirements.txt'))
  const { WAYLEAVE_TEST_POSTGRES_URL: postgresUrl, WAYLEAVE_TEST_REDIS_URL: redisUrl } = process.env
  const stops: (() => Promise<void>)[] = []
  const stop = async () => {
    for (const stopOne of stops.splice(0)) await stopOne()
  }
  const started = async (starting: Promise<{ url: string; stop(): Promise<void> }>) => {
    const server = await starting
    stops.push(server.stop)
    return server.url
  }
  try {
    return {
      variables: {
        WAYLEAVE_TEST_POSTGRES_URL: postgresUrl ?? (await started(startPostgres())),
        WAYLEAVE_TEST_REDIS_URL: redisUrl ?? (await started(startRedis())),
        WAYLEAVE_TEST_PYTHON: python,
        WAYLEAVE_TEST_CHROMIUM: findProgram(...chromiumNames) ?? '',
        WAYLEAVE_TEST_PROMTOOL: ensurePromtool(),
        NODE_COMPILE_CACHE: compileCache(stops),
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/**
 * The tests start some five hundred processes of the same modules: compiled once, each starts in little more
 * than half the time. The folder goes with the run, since copies of the client are compiled in passing places.
 */
function compileCache(stops: (() => Promise<void>)[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-compiled-'))
  stops.push(async () => rmSync(folder, { recursive: true, force: true }))
  return folder
}
