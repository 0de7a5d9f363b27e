import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ADD_ONS } from '../src/add-ons.ts'
import { EXPORT_FORMAT_NAMES } from '../src/export-formats.ts'
import { MEMBER_PERMISSIONS } from '../src/permissions.ts'
import { clientFiles } from './client-files.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

test('the clients have the contract’s types and lists: npm run contract writes them', () => {
  for (const [path, make] of Object.entries(clientFiles)) assert.equal(read(path), make(), path)
})

test('the documentation names every format, add-on and permission', () => {
  const lists: [file: string, names: readonly string[]][] = [
    ['docs/downloads.md', EXPORT_FORMAT_NAMES.map((name) => `| \`${name}\` |`)],
    ['client-js/README.md', EXPORT_FORMAT_NAMES.map((name) => `\`${name}\``)],
    ['client-python/README.md', EXPORT_FORMAT_NAMES.map((name) => `\`${name}\``)],
    ['docs/keys-and-access.md', [...ADD_ONS, ...MEMBER_PERMISSIONS].map((name) => `| ${name} |`)],
  ]
  for (const [file, names] of lists) {
    const text = read(file)
    assert.deepEqual(
      names.filter((name) => !text.includes(name)),
      [],
      file,
    )
  }
})

test('every add-on and permission that the documentation and the clients name exists', () => {
  const files = globSync(['docs/*.md', 'client-{js,python}/{README.md,src/**/*.{ts,py}}'], { cwd: root })
  const existing: readonly string[] = [...ADD_ONS, ...MEMBER_PERMISSIONS]
  for (const file of files) {
    const names = read(file).match(/(?<![\w-])[A-Z]+_(?:ACCESS|DATA|VIEW|CREATE|MANAGE)\b/g) ?? []
    assert.deepEqual(
      names.filter((name) => !existing.includes(name)),
      [],
      file,
    )
  }
})
