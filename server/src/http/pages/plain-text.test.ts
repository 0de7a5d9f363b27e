import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainText } from './plain-text.ts'

test('plain text has the words of Markdown without its marks', () => {
  const cases: [markdown: string, text: string][] = [
    ['Wells of the  city.\nAll of them.', 'Wells of the city. All of them.'],
    ['# Wells\n\n*Deep* and **old**, `id` is unique.', 'Wells Deep and old, id is unique.'],
    ['See [the report](https://example.org) and ![a map](x.png).', 'See the report and a map.'],
    ['- one\n- two\n\n1. three', 'one two three'],
    ['| a | b |\n|---|---|\n| 1 | 2 |', 'a b 1 2'],
    ['1 < 2 <script>alert(1)</script>', '1 < 2 <script>alert(1)</script>'],
    ['', ''],
  ]
  for (const [markdown, text] of cases) assert.equal(plainText(markdown), text)
  const nested = '>'.repeat(10_000)
  assert.equal(typeof plainText(nested), 'string')
})
