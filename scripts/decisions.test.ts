import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const pages = globSync('docs/decisions/*.md', { cwd: root }).filter((file) => basename(file) !== 'README.md')

test('every decision is listed, names the code that depends on it, and that code links back', () => {
  const index = read('docs/decisions/README.md')
  for (const page of pages) {
    assert.ok(index.includes(`(${basename(page)})`), `${page} is not listed`)
    const files = [...read(page).matchAll(/^- `([^`]+)`$/gm)].map((match) => match[1]!)
    assert.ok(files.length > 0, `${page} names no code`)
    for (const file of files) {
      assert.ok(existsSync(join(root, file)), `${page}: ${file} does not exist`)
      assert.ok(read(file).includes(page), `${file} does not link to ${page}`)
    }
  }
})

test('the code links only to decisions that exist', () => {
  for (const file of globSync(
    '{contract,geodata,query,server,console,client-js}/{src,bin}/**/*.{ts,tsx,js}',
    {
      cwd: root,
    },
  )) {
    for (const [link] of read(file).matchAll(/docs\/decisions\/[a-z0-9-]+\.md/g)) {
      assert.ok(existsSync(join(root, link)), `${file}: ${link}`)
    }
  }
})
