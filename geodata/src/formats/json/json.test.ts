import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Value } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { DEFAULT_LIMITS } from '../reading/source-limits.ts'
import { inPieces, readAll } from '../reading.test-kit.ts'
import { openJson } from './json.ts'

const read = (content: string | Uint8Array, options = {}, pieceBytes?: number) =>
  readAll(openJson(inPieces(content, 'a.json', pieceBytes), options))
const refusal = (content: string | Uint8Array, message: RegExp, options = {}) =>
  assert.rejects(
    read(content, options),
    (error: Error) => error instanceof SourceError && message.test(error.message),
    String(message),
  )

const asNumber = (_: string, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)

test('an array, lines, and an object around an array give the same rows, whatever the pieces', async () => {
  const value = fc.jsonValue({ maxDepth: 2 })
  const row = fc.dictionary(fc.constantFrom('a', 'b', 'c "d"', 'é'), value, { minKeys: 1 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 99 }),
      fc.integer({ min: 0, max: 2 }),
      async (rows, size, indent) => {
        const texts = [
          JSON.stringify(rows, null, indent),
          // A single object could be an object that contains the rows.
          [...rows, ...rows].map((each) => JSON.stringify(each)).join('\n'),
          JSON.stringify({ count: 1, note: ']}', data: rows, more: [1] }, null, indent),
        ]
        for (const text of texts) {
          const { stream, features } = await read(text, {}, size)
          const names = stream.columns.map(({ name }) => name)
          const found = features.map(({ values }) => names.map((_, i) => values[i] ?? null))
          const expected = (features.length > rows.length ? [...rows, ...rows] : rows).map((each) =>
            names.map((name) => (each as { [name: string]: Value })[name] ?? null),
          )
          assert.deepEqual(
            JSON.parse(JSON.stringify(found, asNumber)),
            JSON.parse(JSON.stringify(expected)),
            text,
          )
          assert.equal(stream.bytesRead, stream.totalBytes)
        }
      },
    ),
    { numRuns: 60 },
  )
})

test('integers beyond 2^53 are exact, also inside nested values', async () => {
  const { rows, stream } = await read(
    '[{"id":12345678901234567890,"n":{"m":[9007199254740993,1.5]},"t":"12345678901234567890"}]',
  )
  assert.deepEqual(rows, [
    { id: 12345678901234567890n, n: { m: [9007199254740993n, 1.5] }, t: '12345678901234567890' },
  ])
  assert.deepEqual(
    stream.columns.map(({ type }) => type),
    ['infer-json', 'infer-json', 'infer-json'],
  )
  assert.equal(stream.spatial, false)
})

test('columns that appear later are added at the end', async () => {
  const { rows } = await read('{"a":1}\n{"b":2}\n{"b":3,"a":4}\n')
  assert.deepEqual(rows, [
    { a: 1, b: null },
    { a: null, b: 2 },
    { a: 4, b: 3 },
  ])
})

test('coordinates are found as numbers, as texts, as GeoJSON and as WKT', async () => {
  const point = { type: 'Point', coordinates: [13.25, 52.5] }
  for (const text of [
    '[{"name":"a","lon":13.25,"lat":52.5}]',
    '[{"name":"a","lng":"13.25","lat":"52.5"}]',
    '[{"name":"a","geometry":{"type":"Point","coordinates":[13.25,52.5]}}]',
    '[{"name":"a","wkt":"POINT(13.25 52.5)"}]',
  ]) {
    const { features, rows, stream } = await read(text)
    assert.deepEqual(features[0]!.geometry, point, text)
    assert.deepEqual(rows, [{ name: 'a' }])
    assert.equal(stream.spatial, true)
  }
  const { unreadable, features } = await read(
    '[{"lon":1,"lat":2},{"lon":"x","lat":2},{"a":1},{"lon":5,"lat":6},{"lon":7,"lat":8},{"lon":9,"lat":8}]',
  )
  assert.deepEqual(unreadable, [{ row: 2, problem: 'lon is "x", which is not a number' }])
  assert.equal(features[1]!.geometry, null)
})

test('UTF-16 and a byte order mark are read', async () => {
  for (const bytes of [Buffer.from('\ufeff[{"a":"é"}]'), Buffer.from('\ufeff[{"a":"é"}]', 'utf16le')])
    assert.deepEqual((await read(bytes, {}, 3)).rows, [{ a: 'é' }])
})

test('a row that is broken is named and the others are read', async () => {
  const array = await read('[{"a":1},{"a":01},{"a":3}]')
  assert.deepEqual(array.rows, [{ a: 1 }, { a: 3 }])
  assert.match(array.unreadable[0]!.problem, /^not valid JSON: /)
  const bytes = Buffer.from('{"a":"?"}\n{"a":2}\n')
  bytes[6] = 0xff
  const lines = await read(bytes)
  assert.deepEqual(lines.unreadable, [{ row: 1, problem: 'the text is not UTF-8' }])
  assert.deepEqual(lines.rows, [{ a: 2 }])
})

test('what is not rows, is cut off or is too large is refused with a sentence', async () => {
  await refusal('', /^a\.json is empty\.$/)
  await refusal('"text"', /begins with neither an object nor an array/)
  await refusal('[1,2]', /^a\.json: expected feature 1, found "1"/)
  const whole = '[{"a":1},{"a":2}]'
  for (let length = 1; length < whole.length; length++)
    await refusal(whole.slice(0, length), /^a\.json ends /)
  await refusal('{"data":[{"a":1}]', /^a\.json ends before the object around its rows does\.$/)
  await refusal('{"data":[{"a":1}],"other":[{"b":1}]}', /an object with 2 arrays of rows/)
  await refusal('{"a":1}\n{"a":', /^a\.json ends inside row 2\.$/)
  const limits = { ...DEFAULT_LIMITS, rowBytes: 1 << 16, columns: 3 }
  await refusal(`[{"a":"${'x'.repeat(1 << 20)}"}]`, /row 1 is larger than \d+ bytes/, { limits })
  const rest = `{"rows":[{"a":1}],"more":"${'x'.repeat(1 << 20)}"}`
  await refusal(rest, /what follows the rows is larger than \d+ bytes/, { limits })
  await refusal('[{"a":1,"b":1,"c":1,"d":1}]', /more than 3 columns/, { limits })
  await refusal(`[{"a":${'['.repeat(200)}${']'.repeat(200)}}]`, /nested more than 100 deep/)
})
