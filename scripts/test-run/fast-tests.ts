import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Tests that start other programs: databases, browsers, Python, GDAL, or Wayleave in another process. */
const startsPrograms =
  /ogr2ogr|ogrinfo|shapefile\.test-kit|strace|Rscript|WAYLEAVE_TEST_|sharedRedisUrl|openLink\(|openRedisProxy|startRedis|startPostgres|startConsole|openExplorer\(|new TestServer\(|startServerProcess|runCommand\(|runProgramFile\(|spawn\(|spawnSync\(|execFile|fork\(/

/** Tests that take long, that need PostgreSQL, or that go into the details of one part of the server. */
export const leftOut = [
  'geodata/src/compile/compile-in-child-process',
  'geodata/src/compile/compile.test',
  'geodata/src/compile/stage/staged-texts',
  'geodata/src/exports/text-exports',
  'geodata/src/formats/csv/csv-blocks',
  'server/src/accounts/administration/',
  'server/src/operation/backup/',
  'server/src/data/catalog/damage',
  'server/src/assembly/closers',
  'server/src/assembly/contract',
  'server/src/accounts/credits/two-nodes',
  'server/src/base/database/migrations/older-state',
  'server/src/base/database/postgres-disk-full',
  'server/src/data/downloads/',
  'server/src/operation/housekeeping/',
  'server/src/http/sockets/stalled-readers',
  'server/src/accounts/identity/outstanding-links',
  'server/src/accounts/identity/sessions',
  'server/src/accounts/identity/sign-out',
  'server/src/accounts/keys/every-node',
  'server/src/accounts/keys/key-access',
  'server/src/base/limits/limits',
  'server/src/ogc/abstract-tests',
  'query/src/cql2/',
  'server/src/ogc/documents/',
  'server/src/ogc/items/',
  'server/src/ogc/request/',
  'query/src/by-duckdb/select-by-duckdb',
  'server/src/accounts/organizations/',
  'server/src/data/publishing/upload-jobs/job-recovery',
]

/** The tests of `npm run test:fast`: unit tests, and the server's tests in one process on SQLite. */
export function fastTests(root: string, files: string[]): string[] {
  return files
    .filter((file) => /^(geodata|query|server|console|bench|demo)\//.test(file))
    .filter((file) => !leftOut.some((start) => file.startsWith(start)))
    .filter((file) => !startsPrograms.test(readFileSync(join(root, file), 'utf8')))
}
