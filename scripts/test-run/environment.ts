import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { buildTestedProgram } from '../program/tested-program.ts'
import {
  CHROMIUM_NAMES,
  type DebianNeed,
  ensureDebianPackages,
  findProgram,
  hasProgram,
} from '../test-servers/debian.ts'
import { hasFaketime } from '../test-servers/fake-clock.ts'
import { findPostgres, startPostgres } from '../test-servers/postgres.ts'
import { ensurePromtool } from '../test-servers/prometheus.ts'
import { canMakeVirtualEnvironment, ensurePython } from '../test-servers/python.ts'
import { startRedis } from '../test-servers/redis.ts'
import { startS3 } from '../test-servers/s3.ts'
import { stripeMockVariables } from '../test-servers/stripe-mock.ts'
import { compiledModules } from './compiled-modules.ts'

const root = join(import.meta.dirname, '../..')
/** The headless shell has no user interface to start and draw, which saves a quarter of the processor time. */

const debianNeeds: DebianNeed[] = [
  { package: 'postgresql-15', isPresent: () => findPostgres() !== null },
  { package: 'postgresql-15-postgis-3', isPresent: () => findPostgres() !== null },
  { package: 'redis-server', isPresent: () => hasProgram('redis-server') },
  { package: 'gdal-bin', isPresent: () => hasProgram('ogr2ogr') && hasProgram('ogrinfo') },
  { package: 'chromium-headless-shell', isPresent: () => findProgram(...CHROMIUM_NAMES) !== null },
  // The console's test runs curl commands, as users do.
  { package: 'curl', isPresent: () => hasProgram('curl') },
  // Used to check that files are synced before they are renamed.
  { package: 'strace', isPresent: () => hasProgram('strace') },
  // The sandbox of the process that reads published files.
  { package: 'bubblewrap', isPresent: () => hasProgram('bwrap') },
  { package: 'r-cran-sf', isPresent: () => existsSync('/usr/lib/R/site-library/sf/shape') },
  // Used by the drills to change a server's clock and to simulate power cuts of a file system.
  { package: 'faketime', isPresent: hasFaketime },
  {
    package: 'e2fsprogs',
    isPresent: () => existsSync('/usr/sbin/mkfs.ext4') || existsSync('/sbin/mkfs.ext4'),
  },
  { package: 'python3-venv', isPresent: canMakeVirtualEnvironment },
]

export interface TestEnvironment {
  /** The environment variables for the tests. */
  variables: Record<string, string>
  stop(): Promise<void>
}

/**
 * Starts everything the tests need besides npm packages, except database servers that the caller specifies. For a
 * full run it also builds the program.
 */
export async function startTestEnvironment({ isFullRun = false } = {}): Promise<TestEnvironment> {
  ensureDebianPackages(debianNeeds)
  const {
    WAYLEAVE_TEST_POSTGRES_URL: postgresUrl,
    WAYLEAVE_TEST_REDIS_URL: redisUrl,
    WAYLEAVE_TEST_S3_URL: s3Url,
  } = process.env
  const stops: (() => Promise<void>)[] = []
  const stop = async () => {
    for (const stopOne of stops.splice(0)) await stopOne()
  }
  const started = async (starting: Promise<{ url: string; stop(): Promise<void> }>) => {
    const server = await starting
    stops.push(server.stop)
    return server.url
  }
  // At once: installing Python packages waits for the network, and building the program does not.
  const parts = await Promise.allSettled([
    pythonVariables(stops, s3Url !== undefined),
    stripeMockVariables(),
    compiledModules(root),
    isFullRun ? builtProgram(stops).then((program) => ({ WAYLEAVE_TEST_PROGRAM: program })) : {},
  ])
  try {
    return {
      variables: {
        // As the program has it, see `testedProgramArguments`.
        UV_THREADPOOL_SIZE: '16',
        ...Object.assign({}, ...parts.map(resultOf)),
        WAYLEAVE_TEST_POSTGRES_URL: postgresUrl ?? (await started(startPostgres())),
        WAYLEAVE_TEST_REDIS_URL: redisUrl ?? (await started(startRedis())),
        // Python keeps what it compiles, even if the developer's shell forbids it: importing geopandas takes a quarter
        // of the time then.
        PYTHONDONTWRITEBYTECODE: '',
        PYTHONPYCACHEPREFIX: join(root, '.cache', 'python-modules'),
        WAYLEAVE_TEST_CHROMIUM: findProgram(...CHROMIUM_NAMES) ?? '',
        WAYLEAVE_TEST_PROMTOOL: ensurePromtool(),
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The Python of the tests, and the S3 server, whose program is one of its packages. */
async function pythonVariables(
  stops: (() => Promise<void>)[],
  hasS3: boolean,
): Promise<Record<string, string>> {
  const python = await ensurePython()
  const variables = { WAYLEAVE_TEST_PYTHON: python }
  if (hasS3) return variables
  const s3 = await startS3(python)
  stops.push(s3.stop)
  return { ...variables, WAYLEAVE_TEST_S3_URL: s3.url, ...s3.variables }
}

function resultOf<T>(result: PromiseSettledResult<T>): T {
  if (result.status === 'rejected') throw result.reason
  return result.value
}

async function builtProgram(stops: (() => Promise<void>)[]): Promise<string> {
  const { program, remove } = await buildTestedProgram()
  stops.push(async () => remove())
  return program
}
