import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { test } from 'node:test'
import { packageAsset } from '../documentation/package-assets.ts'

/** The sheets that all pages share, and those of the console's pages. */
const folders = ['./', '../../../../console/src/styles/'].map((path) => new URL(path, import.meta.url))
const sheets = folders.flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.css'))
    .map((name) => new URL(name, folder)),
)

/** The steps in rem, as base.css names them in pixels. */
const SPACES = new Set([0.125, 0.25, 0.375, 0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 4, 5])
const TEXTS = new Set([0.75, 0.8125, 0.875, 0.9375, 1.125, 1.375, 1.75, 2.25, 3])

const SPACE = /^\s*(?:padding|margin|(?:row-|column-)?gap)(?:-[a-z-]+)?:([^;]+);/gm
const TEXT = /^\s*font(?:-size)?:([^;]+);/gm
const sizes = (value: string) => [...value.matchAll(/(\d*\.?\d+)rem/g)].map(([, number]) => Number(number))

test('every space and every size of text is a step of one scale', () => {
  assert.ok(sheets.length > 10)
  for (const sheet of sheets) {
    const name = sheet.pathname
    const source = readFileSync(sheet, 'utf8')
    // What is calculated from the page's width is no space between two things.
    for (const [line, value = ''] of source.matchAll(SPACE)) {
      if (!/calc|max\(/.test(value))
        for (const size of sizes(value)) assert.ok(SPACES.has(size), `${name}: ${line}`)
    }
    for (const [line, value = ''] of source.matchAll(TEXT))
      for (const size of sizes(value)) assert.ok(TEXTS.has(size), `${name}: ${line}`)
  }
})

test('the typeface is less than 60 KB, with the letters of further Latin alphabets', () => {
  const bytes = ['instrument-sans.woff2', 'instrument-sans-ext.woff2'].map(
    (name) => statSync(packageAsset(name)!).size,
  )
  assert.ok(bytes[0]! + bytes[1]! < 60_000, `${bytes} bytes`)
})
