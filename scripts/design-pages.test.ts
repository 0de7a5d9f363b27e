import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'

const MAX_WORDS = 90
const root = join(import.meta.dirname, '..')
const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root }).toString().split('\0')
const pages = ['ARCHITECTURE.md', ...globSync('docs/design/*.md', { cwd: root })].map((page) => ({
  page,
  text: readFileSync(join(root, page), 'utf8'),
}))

test(`no paragraph about the design has more than ${MAX_WORDS} words`, () => {
  const long = pages.flatMap(({ page, text }) =>
    paragraphs(text)
      .map((paragraph) => ({ paragraph, words: paragraph.trim().split(/\s+/).length }))
      .filter(({ words }) => words > MAX_WORDS)
      .map(({ paragraph, words }) => `${page}: ${words} words: ${paragraph.slice(0, 60)}`),
  )
  assert.deepEqual(long, [])
})

test('every file and page that the design names exists', () => {
  const missing = pages.flatMap(({ page, text }) => [
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

test('ARCHITECTURE.md links every page of docs/design', () => {
  const [architecture, ...design] = pages
  for (const { page } of design) assert.ok(architecture!.text.includes(`(${page})`), page)
})

/** Paragraphs and items of lists; not tables, headings and code. */
function paragraphs(text: string): string[] {
  return text
    .replaceAll(/^```.*?^```$/gms, '')
    .replaceAll(/^[#|].*$/gm, '')
    .split(/\n\s*\n|\n(?=- |\d+\. )/)
}
