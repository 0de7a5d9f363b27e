import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { hasEmptyName, offencesOf, type Packages } from './arrows.ts'
import { importsOf } from './imports.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const folders = ['contract', 'geodata', 'server', 'client-js', 'console', 'demo', 'bench', 'scripts']

// Includes uncommitted files, so that violations are found before the commit.
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
  .toString()
  .split('\n')
  .filter((file) => folders.includes(file.split('/')[0]!) && /\.(ts|tsx|js|mjs)$/.test(file))
  .filter((file) => existsSync(join(root, file)))

function packagesOf(folder: string): Packages {
  const own = folder === 'scripts' ? {} : JSON.parse(read(`${folder}/package.json`))
  const shared = JSON.parse(read('package.json'))
  return {
    name: own.name ?? '',
    dependencies: Object.keys({ ...shared.dependencies, ...own.dependencies, ...own.peerDependencies }),
    devDependencies: Object.keys({ ...own.devDependencies, ...shared.devDependencies }),
  }
}

test('the arrows between the folders hold, and inside the server those between its layers', () => {
  const packages = new Map(folders.map((folder) => [folder, packagesOf(folder)]))
  const offences = files.flatMap((file) => offencesOf(file, read(file), packages.get(file.split('/')[0]!)!))
  assert.deepEqual(offences, [])
})

test('no file or folder has a name that says nothing', () => {
  assert.deepEqual(files.filter(hasEmptyName), [])
  const bad = ['server/src/keys/utils.ts', 'server/src/services/keys.ts', 'geodata/src/string-helper.ts']
  assert.deepEqual(bad.filter(hasEmptyName), bad)
})

test('every form of import is found, at its line, and none in a comment', () => {
  const source = `import a from './a.ts'
import './b.ts'
import type { C } from "node:c"
import {
  d,
  type D
} from '@types/node/d'
export { e } from './e.ts'
export * from './f.ts'
// import g from 'g'
/** import('h') */
const i = await import('./i.ts')
const j = new Worker(new URL('./j.ts', import.meta.url))
const k = require.resolve('node:k')
type L = import('node:l').L
export const from = 'm'
`
  const found = importsOf(source).map(({ specifier, line }) => `${line} ${specifier}`)
  const expected = [
    '1 ./a.ts',
    '2 ./b.ts',
    '3 node:c',
    '4 @types/node/d',
    '8 ./e.ts',
    '9 ./f.ts',
    '12 ./i.ts',
    '13 ./j.ts',
  ]
  assert.deepEqual(found, [...expected, '14 node:k', '15 node:l'])
})

const packages: Packages = {
  name: 'wayleave',
  dependencies: ['fastify', 'kysely', 'pg', 'pino'],
  devDependencies: ['fast-check'],
}
const broken: [file: string, line: string, offence: string][] = [
  ['geodata/src/a.ts', `import '../../server/src/b.ts'`, '../../server/src/b.ts leads out of geodata'],
  ['geodata/src/a.ts', `import '@wayleave/client'`, 'geodata may not import @wayleave/client'],
  ['server/src/a.ts', `import '../../geodata/src/a.ts'`, '../../geodata/src/a.ts leads out of server'],
  ['server/src/a.ts', `import '@wayleave/client'`, 'server may not import @wayleave/client'],
  [
    'console/src/a.ts',
    `import '@wayleave/client/src/a.ts'`,
    'console may not import @wayleave/client/src/a.ts',
  ],
  [
    'client-js/src/a.ts',
    `import '@wayleave/geodata/bbox.ts'`,
    'client-js may not import @wayleave/geodata/bbox.ts',
  ],
  ['server/src/a.ts', `import 'fast-check'`, 'fast-check is no dependency of server'],
  [
    'server/src/keys/keys.ts',
    `import 'fastify'`,
    'only routes, access/, http/ and ogc/ know Fastify, by fastify',
  ],
  [
    'server/src/keys/keys.ts',
    `import type { A } from 'kysely'`,
    'only stores and database/ know SQL, by kysely',
  ],
  ['server/src/keys/routes.ts', `import 'pg'`, 'only stores and database/ know SQL, by pg'],
  ['server/src/main.ts', 'const a = process.env.A', 'only config.ts reads the environment'],
  ['geodata/src/a.ts', `const a = process.env['A']`, 'only config.ts reads the environment'],
]
const sound: [file: string, line: string][] = [
  ['server/src/a.ts', `import '@wayleave/geodata/feature.ts'`],
  ['server/src/keys/routes.ts', `import 'fastify'`],
  ['server/src/keys/key-routes.ts', `import 'fastify'`],
  ['server/src/ogc/pages.ts', `import 'fastify'`],
  ['server/src/keys/store.ts', `import { sql } from 'kysely'`],
  ['server/src/database/open.ts', `import 'node:sqlite'`],
  ['server/src/keys/keys.test.ts', `import 'fast-check'`],
  ['server/src/config.ts', 'const a = process.env'],
  ['console/src/a.tsx', `import '@wayleave/client'`],
]

test('an import or a look at the environment that breaks the layout is reported with its place', () => {
  for (const [file, line, offence] of broken) {
    assert.deepEqual(offencesOf(file, `\n${line}\n`, packages), [`${file}:2: ${offence}`])
  }
  for (const [file, line] of sound) assert.deepEqual(offencesOf(file, `${line}\n`, packages), [], file)
})
