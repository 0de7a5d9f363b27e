import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { needsNothing } from './needs.ts'

/** Test files that run one after another in one process. */
export interface Batch {
  name: string
  files: string[]
  /** Whether it runs beside the others, because it waits most of the time. */
  waits?: boolean
  /** Whether it needs only npm packages, so that it runs while the environment is set up. */
  needsNothing?: boolean
}

/**
 * Files that run in a process of their own, slowest first: they take long, start browsers, or look at the
 * process itself (its environment, children, descriptors or memory). The files of a folder share a process.
 */
const slow = [
  'drills/src/short-drills',
  'console/test/accessibility',
  'console/test/explorer.test',
  'console/test/way-in',
  'server/src/site/documentation/schemathesis',
  'server/src/command/demo/demo-clients',
  'console/test/explorer-large',
  'console/test/explorer-use',
  'server/src/base/database/frozen-link',
  'scripts/program/',
  'server/src/command/',
  'server/src/operation/backup/',
  'console/test/console',
]

/** As above, but shorter than a batch: they start last, so that no core is idle while the last batch runs. */
const short = [
  'geodata/src/exports/exports',
  'client-js/test/',
  'geodata/src/compile/compile-in-child-process',
  'query/src/by-duckdb/select-by-duckdb',
  'server/src/data/publishing/upload-jobs/job-recovery',
  'query/src/cql2/random-filters',
  'server/src/data/installation/',
  'server/src/ogc/tiles/killed-builds',
  'server/src/ogc/tiles/shared-builds',
  'server/src/base/database/migrations/older-state',
  'server/src/base/database/sqlite/sqlite-outages',
  'geodata/src/crs/proj-comparison',
  'console/test/snippets',
  'geodata/src/formats/index',
  'server/src/http/sockets/descriptors',
]

export const alone = [...slow, ...short]

/** Those of `alone` that wait for timeouts most of the time: they need a tenth to a quarter of a core. */
export const waiting = [
  'drills/src/short-drills',
  'server/src/base/database/frozen-link',
  'client-js/test/faults',
  'server/src/ogc/tiles/killed-builds',
  'server/src/ogc/tiles/shared-builds',
  'server/src/base/database/sqlite/sqlite-outages',
]

/**
 * Importing the modules of the server takes a process more than a second, and the first servers of a process take
 * longer to open than later ones, whose code is compiled, so the server's tests share processes.
 */
const filesPerBatch = 45

/**
 * The batches of a run in the order in which they start. Files of one folder are spread over batches, since they
 * take about the same time.
 */
export function testBatches(root: string, files: string[]): Batch[] {
  const entryOf = (file: string) => alone.find((start) => file.startsWith(start))
  const hooked = new Set(files.filter((file) => hasHooks(join(root, file))))
  const shared = files.filter((file) => entryOf(file) === undefined && !hooked.has(file))
  // Tests of the server run on PostgreSQL too, mostly.
  const others = shared.filter((file) => !file.startsWith('server/'))
  const isReady = (file: string) => needsNothing(readFileSync(join(root, file), 'utf8'))
  const entries = (starts: string[]) =>
    starts.flatMap((start) => {
      const matching = files.filter((file) => entryOf(file) === start)
      const together = matching.filter((file) => !hooked.has(file))
      return [...processes(start, together), ...single(matching.filter((file) => hooked.has(file)))]
    })
  return [
    ...entries(slow),
    ...spread(
      'server',
      shared.filter((file) => file.startsWith('server/')),
    ),
    ...spread(
      'others',
      others.filter((file) => !isReady(file)),
    ),
    ...spread('ready', others.filter(isReady)).map((batch) => ({ ...batch, needsNothing: true })),
    ...entries(short),
    ...single(files.filter((file) => hooked.has(file) && entryOf(file) === undefined)),
  ]
}

/** The files of a folder in one process, other files in one each. */
function processes(start: string, files: string[]): Batch[] {
  if (!start.endsWith('/') || files.length < 2) return single(files)
  return [{ name: start.slice(0, -1), files }]
}

function single(files: string[]): Batch[] {
  const waits = (file: string) => waiting.some((start) => file.startsWith(start))
  return files.map((file) => ({ name: file, files: [file], waits: waits(file) }))
}

/** Hooks at the top level of a file would apply to the tests of all files in its batch. */
function hasHooks(path: string): boolean {
  return /^(before|after|beforeEach|afterEach)\(/m.test(readFileSync(path, 'utf8'))
}

function spread(name: string, files: string[]): Batch[] {
  const count = Math.ceil(files.length / filesPerBatch)
  return Array.from({ length: count }, (_, i) => ({
    name: `${name}-${i + 1}`,
    files: files.filter((_, j) => j % count === i),
  }))
}

/** Writes a file that runs a batch, and returns its path. */
export function writeEntry(root: string, folder: string, { files }: Batch): string {
  const entry = join(folder, 'entry.test.mjs')
  writeFileSync(entry, entryText(files.map((file) => pathToFileURL(join(root, file)).href)))
  return entry
}

/**
 * The first test of a batch passes when all of its files have loaded, and fails if one of them does not. It
 * also keeps the runner from starting the others before: when they end before the next file has loaded, the
 * runner considers the batch finished and calls the hooks that remove shared folders.
 *
 * The runner has an async hook that knows the test of every promise, so that an error which nothing catches is reported
 * with its test. That makes an `await` take about 40 times as long, a tenth of the time of the server's tests. Without
 * promises the hook still knows the tests inside each other and those of timers and sockets; other errors that
 * nothing catches fail the whole batch.
 */
function entryText(addresses: string[]): string {
  return `import hooks from 'node:async_hooks'
const { createHook } = hooks
hooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false })
const { test } = await import('node:test')
hooks.createHook = createHook
async function loadAll() {
  const errors = []
  for (const address of ${JSON.stringify(addresses)}) await import(address).catch((error) => errors.push(error))
  if (errors.length > 0) throw new AggregateError(errors, errors.map(({ message }) => message).join('; '))
}
const loading = loadAll()
test('the test files of this batch load', () => loading)
await loading.catch(() => {})
`
}
