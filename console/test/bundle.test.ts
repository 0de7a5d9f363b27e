import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { needs } from '../../scripts/test-run/needs.ts'
import { buildConsole } from './test-console.ts'

// It builds the console.
needs('time')

const dist = join(import.meta.dirname, '..', 'dist')
const LIMIT = 250_000
/** Modules that only the map needs; they are loaded when a map is opened. */
const MAP = /map-panel|maplibre|pmtiles/
/** What only charts need; it is loaded when the tab is opened. */
const CHARTS = /charts-tab/
const CHARTS_LIMIT = 110_000

/** A module of the build with what it imports, as Vite's manifest has it. */
interface Chunk {
  file: string
  imports?: string[]
  dynamicImports?: string[]
  css?: string[]
}

buildConsole()
const files = readdirSync(join(dist, 'assets'))
const read = (path: string) => readFileSync(join(dist, path))
const manifest = JSON.parse(read('.vite/manifest.json').toString()) as Record<string, Chunk>

/** The files of modules and of everything they import; with `isWhole`, also what they import on demand. */
function filesOf(names: string[], isWhole = false, seen = new Set<string>()): Set<string> {
  for (const name of names) {
    const chunk = manifest[name]!
    if (seen.has(chunk.file) || MAP.test(chunk.file)) continue
    seen.add(chunk.file)
    for (const style of chunk.css ?? []) seen.add(style)
    filesOf([...(chunk.imports ?? []), ...(isWhole ? (chunk.dynamicImports ?? []) : [])], isWhole, seen)
  }
  return seen
}

/** The same files as the server's (server/src/site/documentation/package-assets.ts). */
const fontFile = (letters: string) =>
  fileURLToPath(
    import.meta.resolve(
      `@fontsource-variable/instrument-sans/files/instrument-sans-${letters}-wght-normal.woff2`,
    ),
  )

const packedBytes = (names: Iterable<string>) =>
  [...names].reduce((sum, name) => sum + gzipSync(read(name)).length, 0)

test('the dataset page with all its tabs, without map and charts, is less than 250 KB gzipped', () => {
  // What the first page loads is not followed on demand: that is every other page.
  const all = [...filesOf(['src/pages/dataset-page.tsx'], true, filesOf(['index.html']))]
  const bytes = packedBytes(all.filter((file) => !CHARTS.test(file)))
  assert.ok(bytes < LIMIT, `${bytes} bytes`)
  const charts = packedBytes(all.filter((file) => CHARTS.test(file)))
  assert.ok(charts > 0 && charts < CHARTS_LIMIT, `${charts} bytes for charts`)
})

test('the start page with the typeface is less than 250 KB, and leaves 60 KB for the catalogue and its map', () => {
  const page = filesOf(['index.html', 'src/start/developers.tsx'])
  const code = [...page].reduce((sum, name) => sum + read(`${name}.br`).length, 0)
  const [typeface, furtherLetters] = ['latin', 'latin-ext'].map((letters) => statSync(fontFile(letters)).size)
  assert.ok(typeface! + furtherLetters! < 60_000)
  assert.ok(code + typeface! < LIMIT - 60_000, `${code} + ${typeface} bytes`)
})

test('the first map of a dataset is less than 600 KB with everything that the page loads before', () => {
  const page = filesOf(['index.html', 'src/pages/dataset-page.tsx'])
  const map = files.filter(
    (name) => /^(map-panel|maplibre|world-(coarse|names))/.test(name) && !name.endsWith('.br'),
  )
  assert.ok(map.length >= 5, map.join(' '))
  const all = new Set([...page, ...map.map((name) => `assets/${name}`)])
  const bytes = [...all].reduce((sum, name) => sum + read(`${name}.br`).length, 0)
  assert.ok(bytes < 600_000, `${bytes} bytes`)
})

test('what is rarely opened is not part of the dataset page', () => {
  const page = filesOf(['index.html', 'src/pages/dataset-page.tsx'])
  for (const name of ['snippets', 'charts-tab', 'download-tab', 'versions', 'markdown', 'map-panel']) {
    assert.ok(![...page].some((file) => file.includes(`/${name}-`)), name)
    assert.ok(
      files.some((file) => file.startsWith(`${name}-`)),
      name,
    )
  }
})

test('the first page loads none of the map’s parts', () => {
  const first = read('index.html').toString()
  assert.doesNotMatch(first, MAP)
  assert.ok([...filesOf(['index.html'])].every((file) => !MAP.test(file)))
})

for (const name of ['index.html', 'embed.html']) {
  test(`no inline script or style that the Content-Security-Policy would block (${name})`, () => {
    assert.doesNotMatch(read(name).toString(), /<style|style=|<script(?![^>]*\bsrc=)/)
  })
}

test('no file asks another host for anything', () => {
  const styles = files.filter((name) => name.endsWith('.css')).map((name) => read(`assets/${name}`))
  for (const text of [read('index.html'), read('embed.html'), ...styles]) {
    assert.doesNotMatch(text.toString(), /(?:src|href)="https?:|url\(["']?https?:|@import/)
  }
})
