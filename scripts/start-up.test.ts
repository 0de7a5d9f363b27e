import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { needs } from './test-run/needs.ts'

needs('processes')

const root = join(import.meta.dirname, '..')

/** Reports every module that Node loads, on standard error. */
const REPORT = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  import { writeSync } from 'node:fs'
  registerHooks({ load(url, context, next) { writeSync(2, url + '\\n'); return next(url, context) } })
`)}`

test('wayleave --help loads neither geodata nor the libraries of the service', () => {
  const main = join(root, 'server/src/main.ts')
  const program = `"${process.execPath}" --import "${REPORT}" "${main}" --help 2>&1 >/dev/null`
  // Without the bundled packages of the tests.
  const env = { ...process.env, NODE_OPTIONS: '' }
  const loaded = execFileSync('sh', ['-c', program], { encoding: 'utf8', env }).split('\n')
  assert.ok(loaded.some((url) => url.endsWith('/server/src/main.ts')))
  const heavy = /\/geodata\/src\/|node_modules\/(?:@duckdb|fastify|kysely|pg|proj4|typebox)\//
  assert.deepEqual(
    loaded.filter((url) => heavy.test(url)),
    [],
  )
})
