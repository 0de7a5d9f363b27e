import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
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

/** Libraries that most processes never need. They are imported by the first request that does. */
const LAZY = [
  '@duckdb/node-api',
  '@fastify/swagger',
  '@modelcontextprotocol/server',
  '@opentelemetry/api',
  'apache-arrow',
  'aws4fetch',
  'h3-js',
  'highlight.js/lib/core',
  'hyparquet-writer',
  'ioredis',
  'nodemailer',
  'openid-client',
  'pbf',
  'pdfkit',
  'pg',
  'stripe',
  'zod',
]

test('a server begins without the libraries that most processes never need', () => {
  const packages = packagesOf('server/src/assembly/start-server.ts')
  // A few that it does need: otherwise nothing would have been found.
  for (const name of ['fastify', 'kysely', 'pino']) assert.ok(packages.has(name), name)
  const early = LAZY.filter((name) => packages.has(name))
  assert.deepEqual(early, [], 'import() them where they are used')
})

test('only one file takes values from node:http, because importing it loads all of fetch', () => {
  const files = globSync('{server,query,geodata}/src/**/*.ts', { cwd: root })
  const importing = files.filter((file) => {
    if (/\.test\.ts$|\/testing\/|test-kit/.test(file)) return false
    return /^import (?!type\b)[^'\n]*'node:http'/m.test(readFileSync(join(root, file), 'utf8'))
  })
  assert.deepEqual(importing, [])
})

/** The npm packages that a module imports, directly or not, except by `import()`. */
function packagesOf(entry: string): Set<string> {
  const exports = workspaceExports()
  const packages = new Set<string>()
  const modules = new Set([entry])
  for (const module of modules) {
    for (const specifier of importsOf(readFileSync(join(root, module), 'utf8'))) {
      const file = specifier.startsWith('.') ? join(dirname(module), specifier) : exports.get(specifier)
      if (file) modules.add(file)
      else if (!specifier.startsWith('node:')) packages.add(specifier)
    }
  }
  return packages
}

/** The specifiers of imports and exports that are more than types. */
function importsOf(text: string): string[] {
  const statements = text.matchAll(/^(?:import|export) (?!type\b)(?:([^'";]*?) from )?'([^']+)'/gm)
  return [...statements].flatMap(([, names = '', specifier]) => {
    const list = /^\{([^}]*)\}$/.exec(names.trim())?.[1]?.split(',')
    const isTypes = list?.every((name) => /^\s*(?:type .*)?$/s.test(name))
    return isTypes ? [] : [specifier!]
  })
}

function workspaceExports(): Map<string, string> {
  const entries = ['contract', 'geodata', 'query', 'demo', 'server'].flatMap((folder) => {
    const { name, exports = {} } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
    return Object.entries<string>(exports).map(([path, file]): [string, string] => [
      join(name, path),
      join(folder, file),
    ])
  })
  return new Map(entries)
}
