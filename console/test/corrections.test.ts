import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InspectedColumnRecord } from '@wayleave/contract/records'
import { asFound, changed, correctedSchema, withRole } from '../src/publishing/corrections.ts'
import { placeOf } from '../src/publishing/place-of.ts'

const column = (source: string, change: Partial<InspectedColumnRecord> = {}): InspectedColumnRecord => ({
  ...{ name: source, source, type: 'text', format: null, nullable: false, empty: 0, isHidden: false },
  likely: null,
  ...change,
})
const CORRECTED = { keepsAll: false }
const COLUMNS = [column('code'), column('height'), column('day', { type: 'date', format: 'dd-mm-yyyy' })]

test('only what was corrected becomes part of the schema, unless later versions are checked', () => {
  assert.equal(correctedSchema(COLUMNS, {}, null, CORRECTED), null)
  const height = changed(asFound(COLUMNS[1]!), { name: 'metres', type: 'number', format: 'decimal-comma' })
  assert.deepEqual(correctedSchema(COLUMNS, { height }, null, CORRECTED), {
    columns: [{ name: 'metres', source: 'height', type: 'number', format: 'decimal-comma' }],
  })
  assert.deepEqual(correctedSchema(COLUMNS, {}, null, { keepsAll: true }), {
    columns: [
      { name: 'code', type: 'text' },
      { name: 'height', type: 'text' },
      { name: 'day', type: 'date', format: 'dd-mm-yyyy' },
    ],
  })
})

test('corrections change the schema that the dataset has, and keep the rest of it', () => {
  const stored = {
    columns: [{ name: 'Code', source: 'code', type: 'text' as const, title: 'The code' }, { name: 'other' }],
    idColumn: 'Code',
  }
  const code = changed(asFound(column('code', { name: 'Code' })), { hidden: true })
  assert.deepEqual(correctedSchema(COLUMNS, { code }, stored, CORRECTED), {
    columns: [
      { name: 'Code', source: 'code', type: 'text', hidden: true, title: 'The code' },
      { name: 'other' },
    ],
    idColumn: 'Code',
  })
})

test('titles, units and what is the id, the time and the place are kept with the columns', () => {
  const height = changed(asFound(COLUMNS[1]!), { title: 'Height', unit: ' m ' })
  const roles = { idColumn: 'code', timeColumn: 'day', longitude: '', latitude: '', crs: 'EPSG:25832' }
  assert.deepEqual(correctedSchema(COLUMNS, { height }, null, CORRECTED, roles), {
    columns: [{ name: 'height', type: 'text', title: 'Height', unit: 'm' }],
    idColumn: 'code',
    timeColumn: 'day',
    crs: 'EPSG:25832',
  })
  assert.deepEqual(correctedSchema(COLUMNS, {}, null, CORRECTED, { ...roles, crs: '' }), {
    columns: [],
    idColumn: 'code',
    timeColumn: 'day',
  })
})

test('a version is placed by coordinates or by geometries, not by what was fixed before', () => {
  const none = { idColumn: '', timeColumn: '', longitude: '', latitude: '', geometryColumn: '', crs: '' }
  const pair = { ...none, longitude: 'x', latitude: 'y' }
  const shape = withRole({ ...pair, layer: 'a' }, 'geometryColumn', 'wkt')
  assert.deepEqual(shape, { ...none, geometryColumn: 'wkt', layer: 'a' })
  assert.deepEqual(withRole(withRole(shape, 'longitude', 'x'), 'latitude', 'y'), { ...pair, layer: 'a' })
  assert.equal(withRole(shape, 'idColumn', 'code').geometryColumn, 'wkt')
  const stored = { columns: [], longitude: 'x', latitude: 'y', crs: 'EPSG:25832' }
  assert.deepEqual(correctedSchema(COLUMNS, {}, stored, CORRECTED, { geometryColumn: 'wkt' }), {
    ...{ columns: [], geometryColumn: 'wkt', crs: 'EPSG:25832' },
  })
  assert.deepEqual(correctedSchema(COLUMNS, {}, { columns: [], geometryColumn: 'wkt' }, CORRECTED, pair), {
    ...{ columns: [], longitude: 'x', latitude: 'y' },
  })
})

test('the rows that a version may lack are a share in the schema', () => {
  const checks = (maxRowDrop: string) => ({ keepsAll: false, maxRowDrop })
  assert.deepEqual(correctedSchema(COLUMNS, {}, null, checks('12.5')), { columns: [], maxRowDrop: 0.125 })
  assert.deepEqual(correctedSchema(COLUMNS, {}, null, checks('0')), { columns: [], maxRowDrop: 0 })
  for (const text of ['', ' ', '101', '-1', 'x'])
    assert.equal(correctedSchema(COLUMNS, {}, null, checks(text)), null)
})

test('the place of a geometry is its first position', () => {
  const line = { coordinates: [[[1, 2, 3]], [[4, 5]]] }
  assert.deepEqual(placeOf(line), [1, 2])
  assert.deepEqual(placeOf({ geometries: [{ coordinates: [] }, line] }), [1, 2])
  assert.equal(placeOf({ geometries: [] }), null)
})

test('a format that the type cannot have is dropped', () => {
  const found = asFound(COLUMNS[2]!)
  assert.equal(changed(found, { type: 'number' }).format, '')
  assert.equal(changed(found, { type: 'timestamp' }).format, 'dd-mm-yyyy')
  // A name that was emptied is that of the file.
  const [first] = correctedSchema(COLUMNS, { day: changed(found, { name: ' ' }) }, null, CORRECTED)!.columns
  assert.equal(first!.name, 'day')
})
