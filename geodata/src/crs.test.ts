import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { lacks } from '../../scripts/test-run/needs.ts'
import { axisOrder, crsCode, transformer, transformerToWgs84 } from './crs.ts'
import { SourceError } from './source-error.ts'

/**
 * Codes with a point inside their area and the max difference from GDAL, in degrees. If only a projection is
 * involved, both must agree within two millimetres; with a datum shift, GDAL may choose another published
 * shift or a grid: 2e-5 degrees are about 2 m.
 */
const PROJECTION = 2e-8
const SHIFT = 2e-5
const TABLE: [code: number, longitude: number, latitude: number, tolerance: number][] = [
  [25832, 9.5, 52.3, PROJECTION],
  [32633, 14.2, 48.1, PROJECTION],
  [32755, 147.3, -37.5, PROJECTION],
  [3857, -71.06, 42.36, PROJECTION],
  [3035, 12.1, 47.9, PROJECTION],
  [2154, 2.35, 48.85, PROJECTION],
  [2180, 19.3, 51.8, PROJECTION],
  [3006, 17.9, 59.5, PROJECTION],
  [2193, 174.7, -41.2, PROJECTION],
  [26910, -122.4, 47.6, PROJECTION],
  [2263, -73.98, 40.75, PROJECTION],
  [5070, -96.2, 38.4, PROJECTION],
  [3031, 120, -75, PROJECTION],
  [3413, -40, 72, PROJECTION],
  [6933, 30.5, -12.25, PROJECTION],
  [4269, -122.4, 47.6, PROJECTION],
  [4258, 9.5, 52.3, PROJECTION],
  [2048, 18.9, -33.6, PROJECTION],
  [27700, -1.5, 53.2, SHIFT],
  [28992, 5.1, 52.1, SHIFT],
  [31370, 4.4, 50.8, SHIFT],
  [2056, 8.2, 46.9, SHIFT],
  [5514, 15.4, 49.8, 1e-4],
  [31467, 9.2, 48.7, SHIFT],
  [31287, 13.4, 47.6, SHIFT],
  [2393, 26.9, 62.2, SHIFT],
  [23030, -3.7, 40.4, 1e-4],
  [4267, -100.1, 40.2, 1e-4],
]

function gdal(code: number, points: number[][]): number[][] {
  // gdaltransform prints longitude first, whatever the authority's order.
  const answer = execFileSync(
    'gdaltransform',
    ['-s_srs', `EPSG:${code}`, '-t_srs', 'EPSG:4326', '-output_xy'],
    { input: points.map((point) => point.join(' ')).join('\n'), encoding: 'utf8' },
  )
  return answer
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number))
}

test('coordinates of many CRSs come to WGS84 where GDAL puts them', { skip: lacks('gdal') }, () => {
  for (const [code, longitude, latitude, tolerance] of TABLE) {
    const there = transformer('OGC:CRS84', `EPSG:${code}`)
    const source = there ? there([longitude, latitude]) : [longitude, latitude]
    const back = transformerToWgs84(`EPSG:${code}`)
    const ours = back ? back(source) : source
    const [theirs] = gdal(code, [source])
    for (const axis of [0, 1]) {
      const difference = Math.abs(ours[axis]! - theirs![axis]!)
      assert.ok(difference <= tolerance, `EPSG:${code} is off by ${difference} degrees on axis ${axis}`)
    }
    assert.ok(
      Math.abs(ours[0]! - longitude) < PROJECTION && Math.abs(ours[1]! - latitude) < PROJECTION,
      `EPSG:${code} round trip`,
    )
  }
})

test('WGS84 under any of its names needs no transforming', () => {
  const names = [
    'OGC:CRS84',
    'EPSG:4326',
    'epsg:4326',
    '4326',
    'EPSG:4979',
    'urn:ogc:def:crs:OGC:1.3:CRS84',
    'urn:ogc:def:crs:EPSG::4326',
    'http://www.opengis.net/def/crs/OGC/1.3/CRS84',
    'http://www.opengis.net/def/crs/OGC/0/CRS84h',
    'http://www.opengis.net/def/crs/EPSG/0/4326',
    'EPSG:4326+5773',
    '+proj=longlat +datum=WGS84 +no_defs',
    'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]',
    'GEOGCRS["WGS 84",DATUM["World Geodetic System 1984",ELLIPSOID["WGS 84",6378137,298.257223563]],CS[ellipsoidal,2],AXIS["latitude",north],AXIS["longitude",east],UNIT["degree",0.0174532925199433],ID["EPSG",4326]]',
    '{"type":"GeographicCRS","name":"WGS 84 (CRS84)","id":{"authority":"OGC","code":"CRS84"}}',
    '{"type":"GeographicCRS","name":"WGS 84","id":{"authority":"EPSG","code":4326}}',
  ]
  for (const name of names) assert.equal(transformerToWgs84(name), null, name)
})

test('the same CRS is found by code, URN, URI, ESRI WKT, WKT1, WKT2, PROJ string and PROJJSON', {
  skip: lacks('gdal'),
}, () => {
  const point = [155000, 463000]
  const expected = transformerToWgs84('EPSG:28992')!(point)
  const wkt = (format: string) =>
    execFileSync('gdalsrsinfo', ['-o', format, '--single-line', 'EPSG:28992'], { encoding: 'utf8' }).trim()
  const withoutCode = wkt('wkt1').replaceAll(/,AUTHORITY\["EPSG","[^"]*"\]/g, '')
  const compound = `COMPD_CS["Amersfoort / RD New + NAP height",${wkt('wkt1')},VERT_CS["NAP height",VERT_DATUM["Normaal Amsterdams Peil",2005],UNIT["metre",1]]]`
  const names = [
    '28992',
    'urn:ogc:def:crs:EPSG::28992',
    'urn:ogc:def:crs:EPSG:9.9:28992',
    'http://www.opengis.net/def/crs/EPSG/0/28992',
    'http://www.opengis.net/gml/srs/epsg.xml#28992',
    wkt('wkt_esri'),
    wkt('wkt1'),
    withoutCode,
    compound,
    wkt('wkt2'),
    execFileSync('gdalsrsinfo', ['-o', 'projjson', 'EPSG:28992'], { encoding: 'utf8' }),
    '+proj=sterea +lat_0=52.1561605555556 +lon_0=5.38763888888889 +k=0.9999079 +x_0=155000 +y_0=463000 +ellps=bessel +towgs84=565.2369,50.0087,465.658,-0.40685733,0.350732677,-1.870347384,4.0812 +units=m',
  ]
  for (const name of names) {
    const found = transformerToWgs84(name)!(point)
    assert.ok(Math.hypot(found[0]! - expected[0]!, found[1]! - expected[1]!) < 1e-6, name)
  }
  assert.equal(crsCode(wkt('wkt_esri')), 'EPSG:28992')
  assert.equal(crsCode(withoutCode), 'EPSG:28992')
})

test('an ESRI WKT of no known name still gets the shift of its datum', { skip: lacks('gdal') }, () => {
  const custom = execFileSync('gdalsrsinfo', ['-o', 'wkt_esri', '--single-line', 'EPSG:27700'], {
    encoding: 'utf8',
  })
    .trim()
    .replace('"British_National_Grid"', '"Our_Own_Grid"')
  const found = transformerToWgs84(custom)!([400000, 300000])
  const expected = transformerToWgs84('EPSG:27700')!([400000, 300000])
  assert.ok(Math.hypot(found[0]! - expected[0]!, found[1]! - expected[1]!) < 1e-6)
})

test('a name that belongs to another projection is not used', { skip: lacks('gdal') }, () => {
  const wkt = execFileSync('gdalsrsinfo', ['-o', 'wkt_esri', '--single-line', 'EPSG:25832'], {
    encoding: 'utf8',
  })
    .trim()
    .replace('PARAMETER["Central_Meridian",9.0]', 'PARAMETER["Central_Meridian",15.0]')
  assert.ok(Math.abs(transformerToWgs84(wkt)!([500000, 5000000])[0]! - 15) < 1e-6)
})

test('heights are kept, and what has no place becomes NaN', () => {
  const transform = transformerToWgs84('EPSG:25832')!
  assert.equal(transform([500000, 5800000, 123.5])[2], 123.5)
  assert.deepEqual(transform([Number.NaN, 5]), [Number.NaN, Number.NaN])
  assert.deepEqual(transform([Number.POSITIVE_INFINITY, 5]), [Number.NaN, Number.NaN])
})

test('an unknown CRS is refused by its name with the advice to name another', () => {
  const names = [
    'EPSG:999999',
    'nonsense',
    'urn:ogc:def:crs:EPSG::1',
    'PROJCS["broken',
    'LOCAL_CS["site grid",UNIT["metre",1]]',
    '+proj=unheard_of',
    '{"type":"GeodeticCRS"}',
    '{',
  ]
  for (const name of names) {
    assert.throws(
      () => transformerToWgs84(name),
      (error: Error) =>
        error instanceof SourceError &&
        error.message.includes(name.slice(0, 80)) &&
        /--crs/.test(error.message),
      name,
    )
  }
  assert.throws(
    () => transformerToWgs84('+proj=longlat +nadgrids=somewhere.gsb'),
    /needs the grid file somewhere\.gsb/,
  )
})

test("the order of axes is the authority's", () => {
  for (const crs of [
    'EPSG:4326',
    'http://www.opengis.net/def/crs/EPSG/0/4258',
    'EPSG:3035',
    'EPSG:31467',
    'EPSG:3006',
    // Compound: the order of the horizontal part.
    'EPSG:9528',
    'http://www.opengis.net/def/crs/EPSG/0/5845',
    'EPSG:4326+5773',
    'urn:ogc:def:crs,crs:EPSG::4258,crs:EPSG::5621',
  ]) {
    assert.equal(axisOrder(crs), 'northing-first', crs)
  }
  for (const crs of [
    'OGC:CRS84',
    'http://www.opengis.net/def/crs/OGC/1.3/CRS84',
    'EPSG:3857',
    'EPSG:25832',
    'EPSG:27700',
    'EPSG:28992',
    'EPSG:7415',
    'OGC:CRS83',
    'http://www.opengis.net/def/crs/OGC/1.3/CRS27',
  ]) {
    assert.equal(axisOrder(crs), 'easting-first', crs)
  }
})

test('coordinates rounded beyond the edge of a map of the world stay on their side', () => {
  const edges: [crs: string, x: number][] = [
    ['EPSG:3857', 20037508.3428],
    ['EPSG:3395', 20037508.35],
    ['ESRI:54030', 17005833.3306],
    ['ESRI:54009', 18040095.697],
    ['EPSG:6933', 17367530.46],
    ['EPSG:8857', 17243959.07],
  ]
  for (const [crs, x] of edges) {
    const transform = transformerToWgs84(crs)!
    assert.equal(transform([x, 0])[0], 180, crs)
    assert.equal(transform([-x, 0])[0], -180, crs)
    assert.ok(Math.abs(transform([x * 0.999, 0])[0]! - 179.82) < 0.01, crs)
  }
  // The antimeridian is inside this map, which has no edge there.
  assert.ok(transformerToWgs84('EPSG:3832')!([3339584.9, 0])[0]! < -179.9)
})
