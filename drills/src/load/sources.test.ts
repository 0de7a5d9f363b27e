import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  differenceFrom,
  featuresDifference,
  fileOf,
  type Source,
  sampleDifference,
  stampIn,
} from './sources.ts'

const source: Source = { stamp: 'stamp-000042', rows: 20, format: 'geojson' }
const file = fileOf(source)

test('a file that comes back as it was sent has no difference, in any order of its rows', () => {
  assert.equal(differenceFrom(source, 'geojson', file), null)
  const collection = JSON.parse(file.toString())
  collection.features.reverse()
  assert.equal(differenceFrom(source, 'geojson', Buffer.from(JSON.stringify(collection))), null)
  assert.equal(featuresDifference(source, collection.features), null)
  const csv = fileOf({ ...source, format: 'csv' })
  assert.equal(differenceFrom(source, 'csv', csv), null)
  assert.equal(stampIn(csv), source.stamp)
})

test('a changed, a missing and a repeated row are differences', () => {
  const features = () => JSON.parse(file.toString()).features
  const changed = features()
  changed[7].properties.value++
  assert.match(featuresDifference(source, changed) ?? '', /a row/)
  assert.match(featuresDifference(source, features().slice(1)) ?? '', /19 rows instead of 20/)
  const repeated = features()
  repeated[0] = repeated[1]
  assert.match(featuresDifference(source, repeated) ?? '', /19 distinct rows/)
})

test('an empty, a cut off and a foreign file are differences', () => {
  assert.match(differenceFrom(source, 'geojson', Buffer.alloc(0)) ?? '', /cannot be parsed/)
  assert.match(differenceFrom(source, 'geojson', file.subarray(0, 900)) ?? '', /cannot be parsed/)
  const other = fileOf({ ...source, stamp: 'stamp-000043' })
  assert.match(differenceFrom(source, 'geojson', other) ?? '', /a row/)
})

test('a sample holds rows of its source and is not empty', () => {
  const { features } = JSON.parse(file.toString())
  const [longitude, latitude] = features[3].geometry.coordinates
  const row = { ...features[3].properties, longitude, latitude }
  assert.equal(sampleDifference(source, Buffer.from(JSON.stringify([row]))), null)
  assert.match(sampleDifference(source, Buffer.from('[]')) ?? '', /without rows/)
  assert.match(
    sampleDifference(source, Buffer.from(JSON.stringify([{ ...row, latitude: 0.5 }]))) ?? '',
    /a sample row/,
  )
})
