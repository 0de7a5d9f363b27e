import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableNameOf } from '../src/administration/table-name.ts'

test('a file’s name becomes a table’s name that the service takes', () => {
  assert.equal(tableNameOf('Parcels 2026.geojson'), 'parcels_2026')
  assert.equal(tableNameOf('Bäume (Stadt).shp.zip'), 'baume_stadt')
  assert.equal(tableNameOf('2026-roads.csv'), 'roads')
  assert.equal(tableNameOf('a'.repeat(90)).length, 63)
})
