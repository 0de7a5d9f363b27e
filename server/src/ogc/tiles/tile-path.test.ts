import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTileAddress, tableInTileUrl } from './tile-path.ts'

const TILES = '/v1/ogc/collections/places/tiles/WebMercatorQuad'

test('a URL of a tile has a table and three parts that need no decoding', () => {
  assert.equal(tableInTileUrl(`${TILES}/3/2/1`), 'places')
  assert.equal(tableInTileUrl(`${TILES}/3/2/1?f=mvt&x=a/b%20c`), 'places')
  for (const rest of ['/3/2', '/3/2/', '/3//1', '//2/1', '/3/2/1/0', '/3/2/?f=mvt', '/3/2/%31', '']) {
    assert.equal(tableInTileUrl(TILES + rest), null, rest)
  }
  assert.equal(tableInTileUrl('/v1/ogc/collections/a%20b/tiles/WebMercatorQuad/3/2/1'), null)
  assert.equal(tableInTileUrl('/v1/ogc/collections/a/b/tiles/WebMercatorQuad/3/2/1'), null)
})

test('a tile is named by zoom, row and column, in whole numbers that are in range', () => {
  assert.deepEqual(readTileAddress(`${TILES}/3/2/7`), { z: 3, x: 7, y: 2 })
  assert.deepEqual(readTileAddress(`${TILES}/0/0/0`), { z: 0, x: 0, y: 0 })
  for (const rest of [
    '/3/2/8',
    '/3/8/2',
    '/03/2/1',
    '/3/-1/0',
    '/3/2/1.0',
    '/3/2/1e0',
    '/99/0/0',
    '/3/2/x',
  ]) {
    assert.equal(readTileAddress(TILES + rest), null, rest)
  }
  assert.equal(readTileAddress(`${TILES}/3/2/9999999999999999`), null)
})
