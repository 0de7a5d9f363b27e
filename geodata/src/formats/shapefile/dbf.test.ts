import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { scratch } from '../reading.test-kit.ts'
import { dbf, feature, read, shapefile } from './shapefile.test-kit.ts'

needs('gdal')

test('dBase values keep their types: large integers, dates, booleans, overflow and deleted rows', async (t) => {
  const folder = scratch(t)
  const path = shapefile(folder, [feature({ a: 1 }), feature({ a: 2 }), feature({ a: 3 }), feature({ a: 4 })])
  writeFileSync(
    join(folder, 'made.dbf'),
    dbf(
      [
        ['BIG', 'N', 19, 0],
        ['NUM', 'N', 12, 3],
        ['FLT', 'F', 12, 3],
        ['YES', 'L', 1, 0],
        ['DAY', 'D', 8, 0],
        ['TXT', 'C', 5, 0],
        ['MEMO', 'M', 10, 0],
      ],
      [
        ' 9223372036854775807       1.500       2.250T20200229ab   0000000001',
        '*9223372036854775807       1.500       2.250T20200229gone 0000000001',
        ' *******************************************?        \0\0\0\0\0          ',
        '                  -7      -0.125            F00000000 x            ',
      ],
    ),
  )
  const { stream, rows, features } = await read(path)
  assert.deepEqual(rows, [
    { BIG: 9223372036854775807n, NUM: 1.5, FLT: 2.25, YES: true, DAY: '2020-02-29', TXT: 'ab' },
    { BIG: null, NUM: null, FLT: null, YES: null, DAY: null, TXT: null },
    { BIG: -7, NUM: -0.125, FLT: null, YES: false, DAY: null, TXT: ' x' },
  ])
  assert.deepEqual(
    features.map(({ row }) => row),
    [1, 3, 4],
  )
  assert.deepEqual(
    stream.columns.map(({ type }) => type),
    ['integer', 'number', 'number', 'boolean', 'date', 'text'],
  )
  assert.match(stream.notes[0]!, /Column MEMO is left out/)
})

test('texts are decoded by the .cpg, else by the language driver, else as what they are', async (t) => {
  const cases: [bytes: string, cpg: string | null, driver: number, text: string][] = [
    ['c5bd6c75', 'UTF-8', 0, 'Žlu'],
    ['c5bd6c75', '65001', 0, 'Žlu'],
    ['c5bd6c75', null, 0x57, 'Žlu'],
    ['436166e9', null, 0x57, 'Café'],
    ['436166e9', 'ISO-8859-1', 0, 'Café'],
    ['436166e9', '88591', 0, 'Café'],
    ['ae', 'ISO 8859-2', 0, 'Ž'],
    ['8e', '1250', 0, 'Ž'],
    ['8e', 'ANSI 1250', 0, 'Ž'],
    ['cceef1eae2e0', 'windows-1251', 0, 'Москва'],
    ['cceef1eae2e0', null, 0xc9, 'Москва'],
    ['8cae8aa2', '866', 0, 'МоКв'],
    ['82', 'OEM 437', 0, 'é'],
    ['82', null, 1, 'é'],
    ['b5', null, 2, 'Á'],
    ['a6', 'CP852', 0, 'Ž'],
    ['a4a4a4e5', 'Big5', 0, '中文'],
    ['d6d0cec4', '936', 0, '中文'],
    ['93fa967b', 'Shift_JIS', 0, '日本'],
    ['93fa967b', null, 0x13, '日本'],
    ['436166e9', 'nonsense', 0, 'Café'],
  ]
  const folder = scratch(t)
  const path = shapefile(folder, [feature({ a: 1 })])
  for (const [hex, cpg, driver, text] of cases) {
    writeFileSync(
      join(folder, 'made.dbf'),
      dbf([['T', 'C', 10, 0]], [Buffer.from(`20${hex}`, 'hex')], driver),
    )
    if (cpg === null) rmSync(join(folder, 'made.cpg'), { force: true })
    else writeFileSync(join(folder, 'made.cpg'), cpg)
    assert.deepEqual((await read(path)).rows, [{ T: text }], `${hex} ${cpg} ${driver}`)
  }
})

test('texts lose the spaces that pad them, and keep line ends and tabs', async (t) => {
  const folder = scratch(t)
  const path = shapefile(folder, [feature({ a: 1 }), feature({ a: 2 }), feature({ a: 3 })])
  writeFileSync(join(folder, 'made.dbf'), dbf([['TXT', 'C', 5, 0]], [' ab\n  ', '  \t   ', '      ']))
  const { rows } = await read(path)
  assert.deepEqual(
    rows.map(({ TXT }) => TXT),
    ['ab\n', ' \t', null],
  )
})
