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
  'server/src/administration/',
  'server/src/backup/',
  'server/src/catalog/damage',
  'server/src/assembly/closers',
  'server/src/assembly/contract',
  'server/src/credits/two-nodes',
  'server/src/database/migrations/older-state',
  'server/src/database/postgres-disk-full',
  'server/src/downloads/',
  'server/src/housekeeping/',
  'server/src/http/sockets/stalled-readers',
  'server/src/identity/outstanding-links',
  'server/src/identity/sessions',
  'server/src/identity/sign-out',
  'server/src/keys/every-node',
  'server/src/keys/key-access',
  'server/src/limits/limits',
  'server/src/ogc/abstract-tests',
  'server/src/ogc/cql2/',
  'server/src/ogc/documents/',
  'server/src/ogc/items/',
  'server/src/ogc/request/',
  'server/src/ogc/select/select-by-rows',
  'server/src/organizations/',
  'server/src/publishing/upload-jobs/job-recovery',
]

/** The tests of `npm run test:fast`: unit tests, and the server's tests in one process on SQLite. */
export function fastTests(root: string, files: string[]): string[] {
  return files
    .filter((file) => /^(geodata|server|console|bench|demo)\//.test(file))
    .filter((file) => !leftOut.some((start) => file.startsWith(start)))
    .filter((file) => !startsPrograms.test(readFileSync(join(root, file), 'utf8')))
}
