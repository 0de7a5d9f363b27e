import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { lacks } from './test-run/needs.ts'

const root = join(import.meta.dirname, '..')
mkdirSync(join(root, '.cache'), { recursive: true })
// Inside the repository, so that packages are found.
const folder = mkdtempSync(join(root, '.cache', 'layout-'))
after(() => rmSync(folder, { recursive: true }))

/** Each import, and the rule that forbids it; null if it is allowed. */
const imports: [file: string, specifier: string, rule: string | null][] = [
  ['geodata/src/feature.ts', '../../server/src/base/id.ts', 'workspace geodata'],
  ['geodata/src/pack/pack.ts', '../snapshot/open.ts', 'geodata/src pack'],
  ['server/src/accounts/keys/keys.ts', '../identity/sessions.ts', 'server/src/accounts keys'],
  ['server/src/accounts/keys/version.ts', '../../data/catalog/dataset.ts', 'server/src accounts'],
  ['server/src/base/clock.ts', './events/one.ts', 'server/src/base own files'],
  ['server/src/accounts/usage/usage.ts', '../../assembly/wiring.ts', 'server/src accounts'],
  ['server/src/accounts/usage/report.ts', '../../main.ts', 'server/src own files'],
  ['server/src/novelty/novelty.ts', '../base/id.ts', 'server/src folders'],
  ['server/src/accounts/novelty/novelty.ts', '../../base/id.ts', 'server/src/accounts folders'],
  ['server/src/accounts/users/user.ts', 'fastify', 'fastify'],
  ['server/src/accounts/users/rows.ts', 'kysely', 'sql'],
  ['server/src/accounts/users/file.ts', 'node:sqlite', 'sql'],
  ['server/src/accounts/users/rule.ts', '../../testing/clock.ts', 'no development code'],
  ['server/src/accounts/users/tool.ts', 'fast-check', 'no development dependency'],
  ['server/src/accounts/users/gone.ts', './nowhere.ts', 'no unresolvable import'],
  ['server/src/base/events/one.ts', './other.ts', 'no circles'],
  ['server/src/base/events/other.ts', './one.ts', null],
  ['server/src/accounts/keys/routes.ts', 'fastify', null],
  ['server/src/accounts/keys/store.ts', 'kysely', null],
  ['server/src/accounts/identity/sessions.ts', '../keys/store.ts', null],
  ['server/src/command/serve.ts', '../assembly/wiring.ts', null],
  ['server/src/accounts/keys/keys.test.ts', '../identity/sessions.ts', null],
]

test('an import that breaks the layout is reported by the rule that forbids it', {
  skip: lacks('time'),
}, () => {
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  const dependencies = { fastify: '*', kysely: '*' }
  write('package.json', JSON.stringify({ dependencies, devDependencies: { 'fast-check': '*' } }))
  const targets = [
    'base/id.ts',
    'main.ts',
    'data/catalog/dataset.ts',
    'assembly/wiring.ts',
    'testing/clock.ts',
  ].map((file) => `server/src/${file}`)
  for (const file of [...targets, 'geodata/src/snapshot/open.ts']) write(file, 'export const a = 1\n')
  // Types count like values: the order of the folders is about what a reader has to know.
  for (const [file, specifier] of imports) {
    write(file, `import type { A } from '${specifier}'\nimport '${specifier}'\nexport type B = A\n`)
  }
  const program = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs')
  const config = join(root, '.dependency-cruiser.mjs')
  const args = [program, '--config', config, '--output-type', 'json', 'server', 'geodata']
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, maxBuffer: 1 << 26 })
  assert.equal(String(stderr), '')
  const { violations } = JSON.parse(String(stdout)).summary as {
    violations: { from: string; rule: { name: string } }[]
  }
  const reported = violations.map(({ from, rule }) => `${from}: ${rule.name}`)
  const expected = imports.filter(([, , rule]) => rule !== null).map(([file, , rule]) => `${file}: ${rule}`)
  assert.deepEqual([...new Set(reported)].sort(), expected.sort())
})
