import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { buildConsole } from './test-console.ts'

const dist = join(import.meta.dirname, '..', 'dist')
const LIMIT = 250_000
/** Modules that only the map needs; they are loaded when a map is opened. */
const mapParts = /^(map-panel|maplibre-gl-worker|world)-/

buildConsole()
const files = readdirSync(join(dist, 'assets'))
const read = (name: string) => readFileSync(join(dist, 'assets', name))

test('everything but the map is less than 250 KB gzipped', () => {
  const sizes = files.filter((name) => !mapParts.test(name)).map((name) => gzipSync(read(name)).length)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  assert.ok(total < LIMIT, `${total} bytes`)
})

test('the first page loads none of the map’s parts', () => {
  const first = readFileSync(join(dist, 'index.html'), 'utf8')
  assert.doesNotMatch(first, /map-panel|maplibre/)
  assert.ok(files.some((name) => mapParts.test(name)))
})

test('no inline script or style that the Content-Security-Policy would block', () => {
  const page = readFileSync(join(dist, 'index.html'), 'utf8')
  assert.doesNotMatch(page, /<style|style=|<script(?![^>]*\bsrc=)/)
})

test('no file asks another host for anything', () => {
  const page = readFileSync(join(dist, 'index.html'), 'utf8')
  const styles = files.filter((name) => name.endsWith('.css')).map((name) => read(name).toString())
  for (const text of [page, ...styles])
    assert.doesNotMatch(text, /(?:src|href)="https?:|url\(["']?https?:|@import/)
})
