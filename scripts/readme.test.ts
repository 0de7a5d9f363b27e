import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { EXPORT_FORMATS } from '../contract/src/export-formats.ts'
import { FORMATS } from '../geodata/src/formats/format-table.ts'
import { GDAL_FORMAT_TABLE } from '../geodata/src/formats/gdal-formats.ts'

const root = join(import.meta.dirname, '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')

test('README.md lists the formats of the tables', () => {
  const titles = (rows: readonly { title: string }[]) => rows.map(({ title }) => title.replace(/^an? /, ''))
  assert.deepEqual(listed('reads'), titles(FORMATS))
  assert.deepEqual(listed('reads with GDAL'), titles(GDAL_FORMAT_TABLE))
  assert.deepEqual(listed('downloads'), titles(Object.values(EXPORT_FORMATS)))
})

test('every bench and every page that README.md names exists', () => {
  const benches = [...readme.matchAll(/^\|.*\| `(\w+)` \|$/gm)].map(([, name]) => `bench/src/${name}.ts`)
  assert.ok(benches.length > 0)
  const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link]) => link!)
  for (const file of [...benches, ...links]) assert.ok(existsSync(join(root, file)), file)
})

test('every ratio that README.md names in a sentence is one of its table of benches', () => {
  const [, sentences = ''] = /^## What you get here.*?\n(.*?)^## /ms.exec(readme) ?? []
  const ratios = [...sentences.matchAll(/\b(?:\d+\.\d+|\d+(?= times))/g)].map(([ratio]) => ratio)
  assert.ok(ratios.length > 0)
  const measured = readme.match(/^\|.*\| `\w+` \|$/gm)!.flatMap((row) => row.match(/\d+(?:\.\d+)?/g) ?? [])
  assert.deepEqual(
    ratios.filter((ratio) => !measured.includes(ratio)),
    [],
  )
})

/** The items of a row of the table of formats. */
function listed(row: string): string[] | undefined {
  return new RegExp(`^\\| ${row} \\| (.*) \\|$`, 'm').exec(readme)?.[1]?.split(', ')
}
