import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cases } from '../../../../scripts/test-run/needs.ts'
import { jsonText } from '../../compile/values/json-text.ts'
import { type Feature, isUnreadable, type UnreadableRow } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { type GeojsonOptions, openGeojson } from './geojson.ts'

async function read(source: string | Buffer, options: GeojsonOptions = {}, pieceBytes = 1 << 16) {
  const bytes = Buffer.from(source)
  const stream = await openGeojson(
    {
      file: 'a.geojson',
      totalBytes: bytes.length,
      bytes: (async function* () {
        for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
      })(),
    },
    options,
  )
  const rows: (Feature | UnreadableRow)[] = []
  for await (const batch of stream.batches()) rows.push(...batch)
  return { stream, rows, features: rows.filter((row): row is Feature => !isUnreadable(row)) }
}

const one = '{"type":"Feature","id":7,"geometry":{"type":"Point","coordinates":[1,2]},"properties":{"a":1}}'

function refusal(source: string | Buffer, expected: RegExp, options?: GeojsonOptions): Promise<void> {
  return assert.rejects(read(source, options), (error) => {
    assert.ok(error instanceof SourceError)
    assert.match(error.message, expected)
    return true
  })
}

test('members before and after the features are read in any order', async () => {
  const text = `\ufeff { "name": "x ]} \\" {", "bbox": [1,[2]], "features" :\n [ ${one} , ${one} ], "type": "FeatureCollection", "more": {"a":[]} } \n`
  const { features, stream } = await read(text)
  assert.deepEqual(
    features.map(({ id, row, values }) => ({ id, row, values })),
    [
      { id: 7, row: 1, values: [1] },
      { id: 7, row: 2, values: [1] },
    ],
  )
  assert.equal(stream.crs, 'OGC:CRS84')
  assert.equal(stream.spatial, true)
})

test('a single feature, a bare geometry, lines and RFC 8142 sequences are read', async () => {
  assert.equal((await read(one)).features.length, 1)
  assert.equal((await read(JSON.stringify(JSON.parse(one), null, 2))).features.length, 1)
  const bare = await read('{"type":"Point","coordinates":[1,2]}')
  assert.deepEqual(bare.features[0]!.geometry, { type: 'Point', coordinates: [1, 2] })
  assert.equal((await read(`${one}\n${one}\r\n\n${one}`)).features.length, 3)
  assert.equal((await read(`\x1e${one}\n\x1e${one}\n`)).features.length, 2)
})

test('where the source is cut into pieces makes no difference', async () => {
  const text = `{"type":"FeatureCollection","x":"\\\\","features":[${one},{"type":"Feature","geometry":null,"properties":{"ä\\"":"ü\\\\","n":[{}]}}],"y":{}}`
  const whole = (await read(text)).rows
  for (let size = 1; size < 40; size++) assert.deepEqual((await read(text, {}, size)).rows, whole)
})

test('random collections survive any cutting', async () => {
  const properties = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 3 }))
  await fc.assert(
    fc.asyncProperty(fc.array(properties), fc.integer({ min: 1, max: 300 }), async (list, size) => {
      const features = list.map((each) => ({ type: 'Feature', geometry: null, properties: each }))
      const text = JSON.stringify({ type: 'FeatureCollection', features }, null, size % 3)
      const { stream, features: found } = await read(text, {}, size)
      const names = stream.columns.map((column) => column.name)
      for (const [i, { values }] of found.entries()) {
        const expected = JSON.parse(JSON.stringify(list[i]))
        for (const [c, name] of names.entries())
          assert.equal(
            jsonText(values[c] ?? null),
            jsonText(Object.hasOwn(expected, name) ? expected[name] : null),
          )
      }
      assert.equal(found.length, list.length)
    }),
    { numRuns: cases(60) },
  )
})

test('integers beyond 2^53 are read exactly, long fractions and digits in texts as they are', async () => {
  const text = one.replace(
    '"a":1',
    '"a":12345678901234567890,"b":0.12345678901234566,"c":"12345678901234567890"',
  )
  const { features } = await read(`{"type":"FeatureCollection","features":[${text}]}`)
  assert.deepEqual(features[0]!.values, [12345678901234567890n, 0.12345678901234566, '12345678901234567890'])
})

test('a long integer is found wherever it stands behind digits in a text, whose number makes no difference', async () => {
  // Comparing each of these digits with all others would take hours.
  for (const digits of [0, 1, ...Array.from({ length: 20 }, (_, i) => i + 10), 3_000_000]) {
    const row = `{"type":"Feature","geometry":null,"properties":{"t":"${'7'.repeat(digits)}","n":9007199254740993}}`
    const [feature] = (await read(`{"type":"FeatureCollection","features":[${row}]}`, {}, 1 << 20)).features
    assert.equal(feature?.values[1], 9007199254740993n)
  }
})

test('the crs member of GeoJSON 2008 is used', async () => {
  const named = (crs: string) => `{"type":"FeatureCollection","crs":${crs},"features":[]}`
  const crsOf = async (crs: string) => (await read(named(crs))).stream.crs
  assert.equal(
    await crsOf('{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::25832"}}'),
    'urn:ogc:def:crs:EPSG::25832',
  )
  assert.equal(await crsOf('{"type":"EPSG","properties":{"code":31467}}'), 'EPSG:31467')
  assert.equal(await crsOf('null'), 'OGC:CRS84')
  await refusal(named('{"type":"link"}'), /does not name its CRS/)
  await refusal(
    `{"features":[${one}],"crs":{"type":"name","properties":{"name":"EPSG:25832"}}}`,
    /names its CRS only after its features. Name it with --crs EPSG:25832/,
  )
})

test('a row that is not valid is named, and the others are read', async () => {
  const rows = [
    '{"type":"Feature","geometry":null,"properties":{"a":01}}',
    '{"type":"Thing"}',
    '{"type":"Feature","properties":[]}',
    one,
  ]
  const { rows: found } = await read(`{"type":"FeatureCollection","features":[${rows.join(',')}]}`)
  const problems = found.map((row) => (isUnreadable(row) ? row.problem : null))
  assert.match(problems[0]!, /^not valid JSON: /)
  assert.equal(problems[1], 'a Feature is expected, but "type" is "Thing"')
  assert.equal(problems[2], '"properties" is neither an object nor null')
  assert.equal(problems[3], null)
})

test('bytes that are not UTF-8 are a problem of their row', async () => {
  const bad = Buffer.from(one.replace('"a":1', '"a":"?"'))
  bad[bad.indexOf('?')] = 0xff
  const text = Buffer.concat([Buffer.from('{"features":['), bad, Buffer.from(`,${one}]}`)])
  const { rows } = await read(text)
  assert.deepEqual(rows[0], { row: 1, problem: 'the text is not UTF-8' })
  assert.ok(!isUnreadable(rows[1]!))
})

test('a file that is cut off, empty or something else gets a sentence', async () => {
  const text = `{"type":"FeatureCollection","features":[${one},${one}]}`
  for (let length = 1; length < text.length; length++)
    await refusal(text.slice(0, length), /a\.geojson (ends|is empty|is not valid)/)
  await refusal('', /is empty/)
  await refusal(' \n', /is empty/)
  await refusal('id,name\n1,a', /is not GeoJSON: it does not begin with an object/)
  await refusal(Buffer.from('\ufeff{}', 'utf16le'), /UTF-16/)
  await refusal('{"type":"Topology","objects":{},"arcs":[]}', /is TopoJSON/)
  await refusal('{"type":"Thing","features":[]}', /its type is "Thing"/)
  await refusal(
    `{"features":[${one} ${one}]}`,
    /expected a comma or the end of the array after feature 1, found "{"/,
  )
  await refusal(`{"features":[${one},]}`, /expected feature 2, found "]"/)
  await refusal('{"features":[null]}', /expected feature 1, found "n"/)
  await refusal(`{"features":[${one}]}}`, /not valid after its features/)
})

test('a feature that is too large or nested too deep stops the reading, whatever the file’s size', async () => {
  const large = one.replace('"a":1', `"a":"${'x'.repeat(3 << 20)}"`)
  await refusal(`{"features":[${one},${large}]}`, /feature 2 is larger than 1 MB/, {
    maxFeatureBytes: 1 << 20,
  })
  const deep = one.replace('"a":1', `"a":${'['.repeat(200)}${']'.repeat(200)}`)
  await refusal(`{"features":[${deep}]}`, /feature 1 is nested more than 100 deep/)
})

test('columns beyond the limit and names beyond reason are refused', async () => {
  await refusal(one.replace('"a":1', '"a":1,"b":2'), /has more than 1 columns/, { maxColumns: 1 })
  await refusal(one.replace('"a"', `"${'n'.repeat(2000)}"`), /name is longer than 1000/)
})

test('the source is released when reading ends, fails or is cancelled', async () => {
  const text = `{"type":"FeatureCollection","features":[${one},${one}]}`
  for (const [source, rows] of [
    [text, Infinity],
    [text, 1],
    [text.slice(0, -9), Infinity],
    ['[]', 0],
  ] as const) {
    let isOpen = true
    const bytes = (async function* () {
      try {
        for (const byte of Buffer.from(source)) yield Buffer.of(byte)
      } finally {
        isOpen = false
      }
    })()
    try {
      const stream = await openGeojson({ file: 'a', totalBytes: null, bytes })
      let read = 0
      for await (const batch of stream.batches()) {
        read += batch.length
        if (read >= rows) break
      }
    } catch (error) {
      assert.ok(error instanceof SourceError)
    }
    assert.equal(isOpen, false)
  }
})
