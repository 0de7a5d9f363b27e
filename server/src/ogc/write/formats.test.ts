import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { transformer } from '@wayleave/geodata/geometry'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { temporaryFolder } from '../../testing/test-server.ts'
import { openOgc, point } from '../testing/open-ogc.ts'
import { randomPlaces } from '../testing/random-places.ts'

const EPSG = 'http://www.opengis.net/def/crs/EPSG/0'

test('every encoding has the features of the GeoJSON page, in its order', {
  skip: lacks('gdal'),
}, async (t) => {
  const service = await openOgc(t)
  const places = randomPlaces(60, 3)
  await service.publish('places', places)
  const path = '/collections/places/items?limit=25&sortby=-i'
  const text = await (await service.fetch(path)).text()
  const lines = text
    .split('\n')
    .slice(1, 26)
    .map((line) => line.replace(/,$/, ''))
  assert.equal(lines.length, 25)

  const ndjson = await service.fetch(`${path}&f=ndjson`)
  assert.deepEqual((await ndjson.text()).trimEnd().split('\n'), lines)
  assert.match(ndjson.headers.get('link')!, /rel="next"; type="application\/x-ndjson"/)
  assert.equal(ndjson.headers.get('ogc-numberreturned'), '25')
  const sequence = await (await service.fetch(`${path}&f=geojsonseq`)).text()
  assert.deepEqual(
    sequence.trimEnd().split('\n'),
    lines.map((line) => `\x1e${line}`),
  )

  const fg = await (await service.fetch(`${path}&f=jsonfg`)).text()
  assert.equal('geometryDimension' in JSON.parse(fg), false)
  const fgFeatures = JSON.parse(fg).features as {
    id: unknown
    place: null
    geometry: unknown
    properties: object
    time: object
  }[]
  fgFeatures.forEach((feature, i) => {
    const { id, geometry, properties } = JSON.parse(lines[i]!)
    const time = properties.day === null ? null : { date: properties.day }
    assert.deepEqual(feature, { type: 'Feature', id, time, geometry, place: null, properties })
  })

  const csv = await (await service.fetch(`${path}&f=csv`)).text()
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'page.csv'), csv)
  const fgb = await service.fetch(`${path}&f=fgb`)
  writeFileSync(join(folder, 'page.fgb'), Buffer.from(await fgb.arrayBuffer()))
  const read = (file: string, ...more: string[]) =>
    JSON.parse(
      execFileSync('ogr2ogr', ['-f', 'GeoJSON', '/vsistdout/', join(folder, file), ...more], {
        encoding: 'utf8',
      }),
    ).features as { geometry: object | null; properties: Record<string, unknown> }[]
  const fromFgb = read('page.fgb')
  const fromCsv = read('page.csv', '-oo', 'GEOM_POSSIBLE_NAMES=geometry', '-oo', 'EMPTY_STRING_AS_NULL=NO')
  assert.deepEqual([fromFgb.length, fromCsv.length], [25, 25])
  lines.forEach((line, i) => {
    const { geometry, properties } = JSON.parse(line)
    assert.deepEqual(fromFgb[i]!.geometry, geometry)
    assert.equal(fromFgb[i]!.properties['name'] ?? null, properties.name)
    assert.deepEqual(fromCsv[i]!.geometry, geometry)
    assert.equal(fromCsv[i]!.properties['i'], String(properties.i))
    assert.equal(fromCsv[i]!.properties['name'] ?? '', properties.name ?? '')
  })
})

test('integers of any size are the same in every encoding', async (t) => {
  const service = await openOgc(t)
  await service.publish('places', [
    point(1, 2, { big: 12345678901234567890123n, long: 9007199254740993n, deep: [9007199254740993n] }),
  ])
  for (const f of ['json', 'ndjson', 'jsonfg', 'csv', 'html', 'geojsonseq']) {
    for (const query of [
      '',
      '&filter=long=9007199254740993',
      '&properties=big,long,deep',
      '&crs=EPSG:3857',
    ]) {
      const text = await (await service.fetch(`/collections/places/items?f=${f}${query}`)).text()
      for (const digits of ['12345678901234567890123', '9007199254740993'])
        assert.ok(text.includes(digits), `${f} ${query}`)
    }
  }
  const item = await (await service.fetch('/collections/places/items/1')).text()
  assert.ok(item.includes('"big":12345678901234567890123,"long":9007199254740993,"deep":[9007199254740993]'))
})

test('features come in the CRS asked for, axes in its order, in one order of features', async (t) => {
  const service = await openOgc(t, { settings: { crs: ['25832', 'EPSG:3035', '7423', '5845'] } })
  const features = Array.from({ length: 30 }, (_, i) => point(6 + i / 10, 47 + (i * 7) / 30, { i }))
  await service.publish('places', features)
  const plain = (await service.get('/collections/places/items')).body.features
  for (const [code, northingFirst] of [
    ['4326', true],
    ['3857', false],
    ['25832', false],
    ['3035', true],
    // Compound ones have the order of their horizontal part, here latitude and northing.
    ['7423', true],
    ['5845', true],
  ] as const) {
    const answer = await service.get(`/collections/places/items?crs=${EPSG}/${code}`)
    assert.equal(answer.headers.get('content-crs'), `<${EPSG}/${code}>`)
    const transform = transformer('OGC:CRS84', `EPSG:${code}`)
    answer.body.features.forEach(
      (feature: { id: number; geometry: { coordinates: number[] } }, i: number) => {
        assert.equal(feature.id, plain[i].id)
        const moved = transform ? transform(plain[i].geometry.coordinates) : plain[i].geometry.coordinates
        const expected = northingFirst ? [moved[1], moved[0]] : moved
        assert.deepEqual(feature.geometry.coordinates, expected)
      },
    )
    const item = (await service.get(`/collections/places/items/${plain[3].id}?crs=${EPSG}/${code}`)).body
    assert.deepEqual(item.geometry, answer.body.features[3].geometry)
    const fg = (await service.get(`/collections/places/items?f=jsonfg&crs=${EPSG}/${code}`)).body
    assert.equal(fg.coordRefSys, `${EPSG}/${code}`)
    assert.equal(fg.geometryDimension, 0)
    const one = (await service.get(`/collections/places/items/${plain[3].id}?f=jsonfg`)).body
    assert.deepEqual([one.featureType, one.featureSchema], ['places', fg.featureSchema])
    assert.deepEqual(fg.features[3].place, answer.body.features[3].geometry)

    // Compares a box around the middle in that CRS, in its axis order, with the transformed points
    // themselves.
    const xs = answer.body.features.map(
      ({ geometry }: { geometry: { coordinates: number[] } }) => geometry.coordinates,
    )
    const low = [0, 1].map((axis) => [...xs].map((c) => c[axis]).sort((a, b) => a - b)[8]!)
    const high = [0, 1].map((axis) => [...xs].map((c) => c[axis]).sort((a, b) => a - b)[22]!)
    const inside = answer.body.features.filter((_: unknown, i: number) =>
      [0, 1].every((axis) => xs[i][axis] >= low[axis]! && xs[i][axis] <= high[axis]!),
    )
    const boxed = await service.get(
      `/collections/places/items?bbox=${[...low, ...high]}&bbox-crs=${EPSG}/${code}`,
    )
    assert.deepEqual(
      boxed.body.features.map(({ id }: { id: number }) => id),
      inside.map(({ id }: { id: number }) => id),
      code,
    )
    const ring = [low, [high[0], low[1]], high, [low[0], high[1]], low]
      .map((corner) => corner.join(' '))
      .join(', ')
    const filter = encodeURIComponent(`S_INTERSECTS(geometry, POLYGON((${ring})))`)
    const filtered = await service.get(
      `/collections/places/items?filter=${filter}&filter-crs=${EPSG}/${code}`,
    )
    assert.ok(Math.abs(filtered.body.numberMatched - inside.length) <= 2, `${code} ${filtered.text}`)
  }
})

test('Web Mercator cuts geometries at its edges instead of losing them, in every encoding', {
  skip: lacks('gdal'),
}, async (t) => {
  const service = await openOgc(t)
  const edge = Math.PI * 6378137
  const ring = [[-180, -90], [180, -90], [180, -70], [-180, -70], [-180, -90]] // biome-ignore format: one ring
  const antarctica = { type: 'Feature', geometry: { type: 'Polygon', coordinates: [ring] }, properties: {} }
  await service.publish('places', [antarctica, point(0, 90, {}), point(0, 0, {})])
  const path = '/collections/places/items?crs=EPSG:3857'
  const { body } = await service.get(path)
  const check = (features: { geometry: { coordinates: unknown[] } | null }[]) => {
    assert.equal(features.length, 3)
    const ys = features.flatMap(({ geometry }) =>
      (geometry!.coordinates.flat(2) as number[]).filter((_, i) => i % 2 === 1),
    )
    assert.ok(Math.abs(Math.min(...ys) + edge) < 1e-3, `${Math.min(...ys)} is the southern edge`)
    assert.ok(Math.abs(Math.max(...ys) - edge) < 1e-3, `${Math.max(...ys)} is the northern edge`)
  }
  check(body.features)
  const fg = (await service.get(`${path}&f=jsonfg`)).body
  check(fg.features.map(({ place }: { place: object }) => ({ geometry: place })))
  const file = join(temporaryFolder(t), 'page.fgb')
  writeFileSync(file, Buffer.from(await (await service.fetch(`${path}&f=fgb`)).arrayBuffer()))
  const args = ['-f', 'GeoJSON', '-lco', 'RFC7946=NO', '/vsistdout/', file]
  check(JSON.parse(execFileSync('ogr2ogr', args, { encoding: 'utf8' })).features)
  const csv = await (await service.fetch(`${path}&f=csv`)).text()
  assert.ok(!/(^|\n),,/.test(csv), csv)
})

test('heights: six numbers select by height too, and heights come back', async (t) => {
  const service = await openOgc(t)
  const at = (z: number) => ({
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [1, 2, z] },
    properties: { z },
  })
  await service.publish('places', [at(0), at(10), at(20)])
  const { body } = await service.get('/collections/places/items?bbox=0,0,5,3,3,15')
  assert.deepEqual(
    body.features.map(({ geometry }: { geometry: { coordinates: number[] } }) => geometry.coordinates),
    [[1, 2, 10]],
  )
  assert.equal((await service.get('/collections/places/items?bbox=0,0,3,3')).body.numberMatched, 3)
  // Features with heights are in CRS84h (Part 1, /req/core/crs84; Part 2, /req/crs/fc-md-storageCrs).
  const crs84h = 'http://www.opengis.net/def/crs/OGC/0/CRS84h'
  const collection = (await service.get('/collections/places')).body
  assert.deepEqual([collection.crs[0], collection.storageCrs], [crs84h, crs84h])
  for (const query of ['', `?crs=${crs84h}`, `?crs=OGC:CRS84h&bbox=0,0,-5,3,3,50&bbox-crs=${crs84h}`]) {
    const answer = await service.get(`/collections/places/items${query}`)
    assert.equal(answer.headers.get('content-crs'), `<${crs84h}>`, query)
    assert.equal(answer.body.numberMatched, 3, query)
  }
  const flat = await service.get('/collections/places/items?crs=http://www.opengis.net/def/crs/OGC/1.3/CRS84')
  assert.equal(flat.headers.get('content-crs'), '<http://www.opengis.net/def/crs/OGC/1.3/CRS84>')
  await service.publish('flat', [point(1, 2, {})])
  assert.equal((await service.get(`/collections/flat/items?crs=${crs84h}`)).status, 400)
})
