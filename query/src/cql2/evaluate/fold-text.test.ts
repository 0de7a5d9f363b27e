import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { cases } from '../../../../scripts/test-run/needs.ts'
import type { Fold } from '../ast.ts'
import { foldSql, foldText } from './fold-text.ts'

const instance = await DuckDBInstance.create(':memory:')
const connection = await instance.connect()

async function foldedByDuckDb(fold: Fold, texts: string[]): Promise<string[]> {
  const values = texts.map((_, i) => `($${i + 1})`).join(', ')
  const result = await connection.runAndReadAll(
    `SELECT ${foldSql(fold, '"t"')} FROM (VALUES ${values}) AS v(t)`,
    texts,
  )
  return result.getRows().map(([text]) => text as string)
}

for (const fold of ['casei', 'accenti'] as const) {
  test(`DuckDB and the interpreter fold every character alike beside an accented one: ${fold}`, async () => {
    // One text for each character: the others of its block decide whether a text is folded as a whole.
    const result = await connection.runAndReadAll(
      `SELECT code::INTEGER, ${foldSql(fold, '"x"')} FROM (
         SELECT code, 'É' || chr(code::INTEGER) || 'a' AS x
         FROM range(128, 66000) AS r(code) WHERE code NOT BETWEEN 55296 AND 57343)`,
    )
    const different: string[] = []
    for (const [code, folded] of result.getRows() as [number, string][]) {
      if (folded !== foldText(fold, `É${String.fromCodePoint(code)}a`)) different.push(code.toString(16))
    }
    assert.deepEqual(different, [])
  })

  test(`DuckDB and the interpreter fold every character alike: ${fold}`, async () => {
    // Beyond the third plane, only a few selectors without case or accents are assigned. Results are read as
    // code points, because a lone byte order mark does not survive the conversion from DuckDB.
    const result = await connection.runAndReadAll(
      `SELECT block, CASE WHEN "t" = '' THEN [] ELSE list_transform(string_split("t", ''), lambda c: unicode(c)) END FROM (
         SELECT block, ${foldSql(fold, '"x"')} AS t FROM (
           SELECT code // 64 AS block, string_agg(chr(code::INTEGER), '' ORDER BY code) AS x
           FROM range(1, 210000) AS r(code) WHERE code NOT BETWEEN 55296 AND 57343 GROUP BY ALL))`,
    )
    const different: string[] = []
    for (const [block, folded] of result.getRows() as unknown as [bigint, { items: number[] }][]) {
      const first = Number(block) * 64
      const codes = Array.from({ length: 64 }, (_, i) => first + i).filter(
        (code) => code > 0 && code < 210_000,
      )
      const expected = Array.from(foldText(fold, String.fromCodePoint(...codes)), (c) => c.codePointAt(0))
      if (expected.join() !== folded.items.join()) different.push(block.toString(16))
    }
    assert.deepEqual(different, [])
  })

  test(`DuckDB and the interpreter fold texts alike: ${fold}`, async () => {
    const texts = fc.array(fc.string({ unit: 'binary', maxLength: 8 }), { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(texts, async (list) => {
        const clean = list.map((text) => text.replaceAll('\u{feff}', ''))
        assert.deepEqual(
          await foldedByDuckDb(fold, clean),
          clean.map((text) => foldText(fold, text)),
        )
      }),
      { numRuns: cases(100) },
    )
  })
}

test('case folding is full: one letter may equal two, and all forms of a letter are equal', () => {
  const same = ['STRASSE', 'Straße', 'STRAẞE', 'strasse']
  assert.deepEqual(new Set(same.map((text) => foldText('casei', text))), new Set(['strasse']))
  assert.equal(foldText('casei', 'ΟΔΟΣ'), foldText('casei', 'οδος'))
  assert.equal(foldText('casei', 'ﬁle'), 'file')
  assert.equal(foldText('casei', 'ſ'), 's')
  assert.notEqual(foldText('casei', 'ı'), 'i')
})

test('accent folding drops accents, composed or not, and leaves letters that only look accented', () => {
  assert.equal(foldText('accenti', 'débárquér'), 'debarquer')
  assert.equal(foldText('accenti', 'de\u{301}ba\u{301}rquer'), 'debarquer')
  assert.equal(foldText('accenti', 'Ąžuolų'), 'Azuolu')
  assert.equal(foldText('accenti', 'øłđ'), 'øłđ')
  assert.equal(foldText('accenti', 'ガラス か\u{3099}'), 'ガラス か\u{3099}')
  assert.equal(foldText('accenti', 'हिन्दी'), 'हिन्दी')
})
