import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cases } from '../../../../scripts/test-run/needs.ts'
import { inPieces } from '../reading.test-kit.ts'
import { openCsv } from './csv.ts'
import { type CsvBlock, CsvFeatures, CsvParser } from './csv-parser.ts'

/** A naive RFC 4180 parser, by character; records with text after a closing quote become strings. */
function readPlainly(text: string, delimiter: string): (string[] | string)[] {
  const records: (string[] | string)[] = []
  let at = 0
  while (at < text.length) {
    const line = /^\r?(?:\n|$)/.exec(text.slice(at))
    if (line !== null) {
      at += Math.max(1, line[0].length)
      continue
    }
    const values: string[] = []
    let stray = ''
    for (;;) {
      let value = ''
      if (text[at] === '"') {
        at++
        while (text[at] !== '"' || text[at + 1] === '"') {
          if (text[at] === '"') at++
          value += text[at++]
        }
        at++
        let after = ''
        while (at < text.length && text[at] !== delimiter && text[at] !== '\n') after += text[at++]
        stray ||= after.trim()
      } else {
        while (at < text.length && text[at] !== delimiter && text[at] !== '\n') value += text[at++]
        if (text[at] !== delimiter && value.endsWith('\r')) value = value.slice(0, -1)
      }
      values.push(value)
      if (at >= text.length || text[at++] === '\n') break
    }
    records.push(stray === '' ? values : stray)
  }
  return records
}

async function blocksOf(text: string, pieceBytes: number) {
  const stream = await openCsv(inPieces(text, 'a.csv', pieceBytes))
  const blocks: CsvBlock[] = []
  for await (const block of stream.blocks()) blocks.push(block as CsvBlock)
  assert.equal(stream.parsing.format, 'csv')
  return { blocks, layout: stream.parsing.format === 'csv' ? stream.parsing.layout : assert.fail() }
}

const value = fc.oneof(
  fc.constantFrom('', 'a', '12', '東京', '𝄞', 'ü', "5' 3", 'x"y', '"q"', ' '),
  fc.constantFrom('"a,b"', '"a\nb"', '"a\r\nb"', '"say ""hi"""', '""', '""""', '"\n"', '"ü,東"', '"x" '),
)
const record = fc.array(value, { minLength: 2, maxLength: 4 }).map((values) => values.join(','))
const line = fc.oneof({ weight: 9, arbitrary: record }, fc.constantFrom('', '\r', '"a"x,1', '\r\r', '\r"a"'))
const file = fc
  .tuple(fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n')), { maxLength: 12 }), record)
  .map(([lines, last]) => `first,second,third\nb,2,c\n${lines.map((each) => each.join('')).join('')}${last}`)

test('wherever a file is cut, each thread gets whole records and their row numbers', async () => {
  await fc.assert(
    fc.asyncProperty(file, async (text) => {
      const expected = readPlainly(text, ',').slice(1)
      const bytes = Buffer.byteLength(text)
      for (let size = 1; size <= bytes; size++) {
        const { blocks, layout } = await blocksOf(text, size)
        const found: (string[] | string)[] = []
        const parser = new CsvParser(layout)
        // Out of order, as threads process them.
        for (const block of blocks.toReversed()) {
          assert.equal(block.bytes.byteLength, block.bytes.buffer.byteLength, 'owns its memory')
          const features = new CsvFeatures()
          parser.parse(block, features)
          assert.equal(features.rows.length, block.rows)
          for (const each of features.rows)
            found[each.row - 1] =
              'problem' in each ? each.problem : each.values.map((read) => (read ?? '') as string)
        }
        assert.equal(found.length, expected.length)
        for (const [i, wanted] of expected.entries()) {
          const read = found[i]!
          if (typeof wanted === 'string')
            assert.equal(read, `a quoted value is followed by ${JSON.stringify(wanted)}`)
          else if (wanted.length < 3 || wanted.slice(3).some((surplus) => surplus !== ''))
            assert.equal(
              read,
              `the row has ${wanted.length} ${wanted.length === 1 ? 'value' : 'values'} where 3 are expected`,
            )
          else assert.deepEqual(read, wanted.slice(0, 3))
        }
      }
    }),
    { numRuns: cases(60) },
  )
})
