import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'

const MAX_WORDS = 90
const root = join(import.meta.dirname, '..')
const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root }).toString().split('\0')
const read = (page: string) => ({ page, text: readFileSync(join(root, page), 'utf8') })
const pages = ['ARCHITECTURE.md', ...globSync('docs/design/*.md', { cwd: root })].map(read)
const documents = [...pages, read('CONTRIBUTING.md')]

test(`no paragraph about the design has more than ${MAX_WORDS} words`, () => {
  const long = pages.flatMap(({ page, text }) =>
    paragraphs(text)
      .map((paragraph) => ({ paragraph, words: paragraph.trim().split(/\s+/).length }))
      .filter(({ words }) => words > MAX_WORDS)
      .map(({ paragraph, words }) => `${page}: ${words} words: ${paragraph.slice(0, 60)}`),
  )
  assert.deepEqual(long, [])
})

test('every file and page that the design and CONTRIBUTING.md name exists', () => {
  const missing = documents.flatMap(({ page, text }) => [
    ...[...text.matchAll(/`([\w./-]+\.(?:ts|py|tsv|mjs))`/g)]
      .map(([, file]) => file!)
      .filter((file) => !tracked.some((path) => path === file || path.endsWith(`/${file}`)))
      .map((file) => `${page}: ${file}`),
    ...[...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)]
      .map(([, link]) => link!)
      .filter((link) => !existsSync(join(root, dirname(page), link)))
      .map((link) => `${page}: ${link}`),
  ])
  assert.deepEqual(missing, [])
})

test('every function, class and member that the design and CONTRIBUTING.md name is in the code', () => {
  const named = documents.flatMap(({ text }) =>
    [...text.matchAll(/`#?([a-zA-Z]\w*(?:\.#?\w+)*)(?:\(\))?`/g)].flatMap(([, name]) => name!.split(/\.#?/)),
  )
  const names = [...new Set(named.filter((name) => /[a-z][A-Z]/.test(name)))]
  const patterns = names.flatMap((name) => ['-e', name])
  const args = [
    'grep',
    '-ohFw',
    ...patterns,
    '--',
    '*/src/*.ts',
    '*/src/*.tsx',
    '*/test/*.ts',
    'package.json',
  ]
  const found = new Set(
    execFileSync('git', args, { cwd: root, maxBuffer: 1 << 26 })
      .toString()
      .split('\n'),
  )
  const missing = names.filter((name) => !found.has(name))
  assert.deepEqual(missing, [])
})

test('ARCHITECTURE.md links every page of docs/design', () => {
  const [architecture, ...design] = pages
  for (const { page } of design) assert.ok(architecture!.text.includes(`(${page})`), page)
})

test('ARCHITECTURE.md lists the folders of the server and of the query engine, in the order that is checked', async () => {
  const text = pages[0]!.text
  // The configuration is plain JavaScript, without types.
  const { folders: order }: { folders: Record<string, string[]> } = await import(
    pathToFileURL(join(root, '.dependency-cruiser.mjs')).href
  )
  const wings = order['server/src']!
  for (const root of ['server/src', 'query/src', ...wings.map((wing) => `server/src/${wing}`)]) {
    const indent = root.split('/').length === 2 ? '' : '  '
    const name = indent ? root.split('/').at(-1)! : root
    // A folder's part ends at the next line that is not indented further.
    const part = new RegExp(`^${indent}${name}/.*\\n((?:${indent} .*\\n)*)`, 'm').exec(text)?.[0] ?? ''
    const inside = part.slice(part.indexOf('/') + 1)
    const places = (order[root] ?? []).map(
      (folder) => [folder, inside.search(new RegExp(`(?<![\\w/-])${folder}/`))] as const,
    )
    for (const [index, [folder, place]] of places.entries()) {
      assert.ok(place >= 0, `${root}/${folder} is not described`)
      assert.ok(index === 0 || place > places[index - 1]![1], `${root}/${folder} is described too early`)
    }
  }
})

/** Paragraphs and items of lists; not tables, headings and code. */
function paragraphs(text: string): string[] {
  return text
    .replaceAll(/^```.*?^```$/gms, '')
    .replaceAll(/^[#|].*$/gm, '')
    .split(/\n\s*\n|\n(?=- |\d+\. )/)
}
