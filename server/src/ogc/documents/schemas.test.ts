import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Column, GeometryType } from '@wayleave/geodata/geometry'
import type { Manifest } from '@wayleave/geodata/snapshot'
import { StoredNotes } from '../../data/catalog/column-notes.ts'
import type { Dataset } from '../../data/catalog/dataset.ts'
import { collectionSchema } from './schemas.ts'

const BASE = 'https://data.example.org'

function schemaOf(manifest: Partial<Manifest>): Record<string, Record<string, unknown>> {
  const whole = { columns: [], id: { column: null, type: 'integer' }, timeColumn: null, ...manifest }
  const dataset = {
    table: 'places',
    title: 'Places',
    description: '',
    columnNotes: new StoredNotes('{}'),
    manifest: whole,
  } as unknown as Dataset
  return collectionSchema('schema', dataset, BASE).properties as Record<string, Record<string, unknown>>
}

test('a geometry has the narrowest format that the standard knows for the types that occur', () => {
  const cases: [GeometryType[], string][] = [
    [['Point'], 'geometry-point'],
    [['MultiPolygon'], 'geometry-multipolygon'],
    [['GeometryCollection'], 'geometry-geometrycollection'],
    [['Point', 'MultiPoint'], 'geometry-point-or-multipoint'],
    [['LineString', 'MultiLineString'], 'geometry-linestring-or-multilinestring'],
    [['Polygon', 'MultiPolygon'], 'geometry-polygon-or-multipolygon'],
    [['Point', 'MultiPolygon'], 'geometry-any'],
    [['LineString', 'Polygon', 'MultiPolygon'], 'geometry-any'],
    [[], 'geometry-any'],
  ]
  for (const [geometryTypes, format] of cases) {
    const { geometry } = schemaOf({ geometryType: 'Geometry', geometryTypes })
    assert.equal(geometry!['format'], format)
    assert.equal('type' in geometry!, false)
  }
  assert.deepEqual(schemaOf({ geometryType: null, geometryTypes: [] }), {})
})

test('every property but the geometry has a type, and only an integer or a string is called the id', () => {
  const types: Column['type'][] = ['boolean', 'integer', 'number', 'text', 'date', 'timestamp', 'json']
  const columns = types.map((type) => ({ name: type, type, nullable: true }))
  for (const [name, property] of Object.entries(schemaOf({ columns, geometryType: null }))) {
    assert.ok(property['type'], name)
  }
  for (const type of types) {
    const properties = schemaOf({ columns, geometryType: null, id: { column: type, type: 'text' } })
    const isId = type !== 'boolean' && type !== 'number' && type !== 'json'
    assert.equal(properties[type]!['x-ogc-role'], isId ? 'id' : undefined, type)
  }
})
