import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildTestedProgram } from '../../../scripts/program/tested-program.ts'
import { ensureDebianPackages, hasProgram } from '../../../scripts/test-servers/debian.ts'
import { hasFaketime } from '../../../scripts/test-servers/fake-clock.ts'
import { findPostgres, startPostgres } from '../../../scripts/test-servers/postgres.ts'
import { ensurePython } from '../../../scripts/test-servers/python.ts'
import { startS3 } from '../../../scripts/test-servers/s3.ts'

const needs = [
  { package: 'postgresql-15', isPresent: () => findPostgres() !== null },
  { package: 'postgresql-15-postgis-3', isPresent: () => findPostgres() !== null },
  { package: 'redis-server', isPresent: () => hasProgram('redis-server') },
  { package: 'faketime', isPresent: hasFaketime },
]

/** Sets up what `npm run drills` needs besides npm packages. Uses a PostgreSQL that the caller specifies. */
export async function startDrillEnvironment(): Promise<{ stop(): Promise<void> }> {
  ensureDebianPackages(needs)
  const stops: (() => Promise<void>)[] = []
  if (!process.env['WAYLEAVE_TEST_POSTGRES_URL']) {
    const postgres = await startPostgres()
    stops.push(postgres.stop)
    process.env['WAYLEAVE_TEST_POSTGRES_URL'] = postgres.url
  }
  if (!process.env['WAYLEAVE_TEST_S3_URL']) {
    const s3 = await startS3(await ensurePython())
    stops.push(s3.stop)
    Object.assign(process.env, { WAYLEAVE_TEST_S3_URL: s3.url, ...s3.variables })
  }
  const { program, remove } = await buildTestedProgram()
  process.env['WAYLEAVE_TEST_PROGRAM'] = program
  process.on('exit', remove)
  // The compile cache: thousands of processes load the same modules, and start faster with it.
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-compiled-'))
  // Also when a signal ends the process.
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  process.env['NODE_COMPILE_CACHE'] = folder
  return {
    async stop() {
      for (const stopOne of stops.splice(0)) await stopOne()
    },
  }
}
