import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { compileText, scratch } from '../compile/compile-fixture.ts'
import { compileFeatures } from '../exports/testing/compiled-fixture.ts'
import { decodeArchive } from './archive/test-archive.ts'
import { buildTiles } from './build/build-tiles.ts'

interface Described {
  /** JSON, because not every integer is a number of JavaScript. */
  id: string
  properties: string
}

let serial = 0

/** The fields that the metadata names, and the properties of the deepest zoom by the feature's order. */
async function fieldsOf(described: Described[]) {
  const features = described.map(
    ({ id, properties }, i) =>
      `{"type":"Feature","id":${id},"properties":${properties},"geometry":{"type":"Point","coordinates":[${i},0]}}`,
  )
  const { folder } = await compileText(`{"type":"FeatureCollection","features":[${features.join()}]}`)
  const path = join(scratch, `fields-${++serial}.pmtiles`)
  await buildTiles(folder, path, { table: 'points', maxZoom: 1 })
  const { metadata, features: decoded, maxZoom } = await decodeArchive(path)
  const deepest = decoded.filter(({ z }) => z === maxZoom)
  const { fields } = metadata.vector_layers[0]!
  for (const { properties } of deepest)
    for (const [name, value] of Object.entries(properties)) {
      const type = typeof value === 'number' ? 'Number' : 'String'
      assert.ok(fields[name] === type || fields[name] === 'Mixed', `${name} is ${fields[name]}, not ${type}`)
    }
  return { fields, properties: deepest.map(({ properties }) => properties) }
}

const COUNTS = { point_count: 'Number', feature_count: 'Number' }

test('the fields of a layer have the ids that are properties, and say which integers are texts', async () => {
  const properties = '{"n":1}'
  const plain = await fieldsOf([
    { id: '0', properties },
    { id: '9007199254740991', properties },
  ])
  assert.deepEqual(plain.fields, { n: 'Number', ...COUNTS })

  for (const id of ['-1', '9007199254740993']) {
    const { fields, properties: decoded } = await fieldsOf([
      { id, properties },
      { id: '7', properties },
    ])
    assert.deepEqual(fields, { n: 'Number', id: 'Number', ...COUNTS })
    assert.equal(decoded.filter((one) => 'id' in one).length, 1)
  }
  const text = await fieldsOf([{ id: '"a"', properties }])
  assert.deepEqual(text.fields, { n: 'Number', id: 'String', ...COUNTS })

  const long = await fieldsOf([
    { id: '1', properties: '{"n":9223372036854775807,"m":-9223372036854775808}' },
    { id: '2', properties: '{"n":9223372036854775808,"m":1}' },
    { id: '-9223372036854775809', properties: '{"n":1,"m":2}' },
  ])
  assert.deepEqual(long.fields, { n: 'Mixed', m: 'Number', id: 'Mixed', ...COUNTS })
})

test('columns keep their names, and the properties that tiles add get others', async () => {
  const properties = '{"id":"x","point_count":5,"feature_count":"y"}'
  const { fields } = await fieldsOf([{ id: '-1', properties }])
  assert.deepEqual(fields, {
    id: 'String',
    point_count: 'Number',
    feature_count: 'String',
    feature_id: 'Number',
    point_count_1: 'Number',
    feature_count_1: 'Number',
  })
})

test('integers of up to 53 bits are exact in tiles, on both sides of zero', async () => {
  const powers = [31, 32, 33, 51, 52, 53].flatMap((bits) => [2 ** bits - 1, 2 ** bits, 2 ** bits + 1])
  const safe = powers.filter(Number.isSafeInteger).flatMap((n) => [n, -n])
  const { properties } = await fieldsOf(safe.map((n, i) => ({ id: `${i}`, properties: `{"n":${n}}` })))
  const ascending = (a: number, b: number) => a - b
  assert.deepEqual(properties.map(({ n }) => Number(n)).sort(ascending), safe.sort(ascending))
})

test('the archive of a dataset without features is whole and has no tiles', async () => {
  const { folder } = await compileFeatures(join(scratch, 'nothing'), [])
  const path = join(scratch, 'nothing.pmtiles')
  await buildTiles(folder, path, { table: 'nothing' })
  const { features, metadata } = await decodeArchive(path)
  assert.deepEqual(features, [])
  assert.deepEqual(metadata.vector_layers[0]!.id, 'nothing')
})
