import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { openOgc } from '../testing/open-ogc.ts'
import { randomPlaces } from '../testing/random-places.ts'

interface Raw {
  status: number
  headers: Record<string, string | string[] | undefined>
  bytes: Buffer
}

test('pages above 16 KB are compressed for clients that accept it, each coding with its own tag', async (t) => {
  const service = await openOgc(t)
  await service.publish('places', randomPlaces(500, 41))
  /** Unlike fetch, this sends only the given headers and does not decompress. */
  const get = (path: string, headers: Record<string, string>) =>
    new Promise<Raw>((resolve, reject) => {
      const sent = { 'x-api-key': service.key, ...headers }
      request(`${service.url}/v1/ogc/collections/places/items${path}`, { headers: sent }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () =>
          resolve({ status: response.statusCode!, headers: response.headers, bytes: Buffer.concat(chunks) }),
        )
      })
        .on('error', reject)
        .end()
    })
  const withoutTime = (bytes: Buffer) => bytes.toString('utf8').replace(/"timeStamp":"[^"]*"/, '')
  // A plain page, twice so that it is served from the cache, a filtered one, and other encodings.
  const paths = ['', '', '?filter=i>=0', '?sortby=i', '?f=csv', '?f=fgb', '?f=html', '?crs=EPSG:3857', '']
  const tags = new Set<string>()
  for (const path of paths) {
    const plain = await get(path, {})
    assert.equal(plain.headers['content-encoding'], undefined, path)
    assert.match(String(plain.headers['vary']), /Accept-Encoding/)
    assert.ok(plain.bytes.length > 16_384)
    for (const [accept, coding, decompress] of [
      ['gzip, deflate', 'gzip', gunzipSync],
      ['gzip, deflate, br, zstd', 'zstd', zstdDecompressSync],
    ] as const) {
      const packed = await get(path, { 'accept-encoding': accept })
      assert.equal(packed.status, 200)
      assert.equal(packed.headers['content-encoding'], coding, path)
      assert.equal(packed.headers['content-type'], plain.headers['content-type'])
      assert.ok(packed.bytes.length < plain.bytes.length / 2, `${path} in ${coding}`)
      assert.equal(withoutTime(decompress(packed.bytes)), withoutTime(plain.bytes), `${path} in ${coding}`)
      const tag = String(packed.headers['etag'])
      assert.notEqual(tag, plain.headers['etag'])
      if (path === '') tags.add(tag)
      for (const known of [tag, String(plain.headers['etag'])]) {
        const again = await get(path, { 'accept-encoding': accept, 'if-none-match': known })
        assert.deepEqual([again.status, again.headers['etag'], again.bytes.length], [304, known, 0])
      }
    }
  }
  assert.equal(tags.size, 2)
  for (const [path, accept] of [
    ['?limit=3', 'gzip'],
    ['', 'identity'],
    ['', 'gzip;q=0'],
    ['', 'br'],
  ]) {
    const { headers } = await get(path!, { 'accept-encoding': accept! })
    assert.equal(headers['content-encoding'], undefined, `${path} ${accept}`)
  }
  // A page of another version is not served from the cache.
  await service.publish('places', randomPlaces(500, 42))
  const later = await get('', { 'accept-encoding': 'gzip' })
  assert.equal(withoutTime(gunzipSync(later.bytes)), withoutTime((await get('', {})).bytes))
  assert.ok(!tags.has(String(later.headers['etag'])))
})
