import assert from 'node:assert/strict'
import { basename } from 'node:path'
import { test } from 'node:test'
import { needs } from '../../../scripts/test-run/needs.ts'
import { compileSnapshot } from '../compile/compile.ts'
import { SourceError } from '../source-error.ts'
import { ogr2ogr, scratch, written } from './reading.test-kit.ts'

needs('gdal')

test('a file that is not a dataset is refused with a sentence that says what it is', async (t) => {
  const binary = (start: string) => Buffer.concat([Buffer.from(start, 'latin1'), Buffer.alloc(200)])
  const cases: [name: string, content: string | Buffer, message: RegExp][] = [
    ['a.dxf', '  0\r\nSECTION\r\n  2\r\nHEADER\r\n  0\r\nENDSEC\r\n', /is a DXF drawing/],
    [
      'a.json',
      '{"error":"not found","status":404}',
      /looks like an error message of a service: "not found"\.$/,
    ],
    ['a.json', '{"errors":[{"message":"quota"}]}', /looks like an error message of a service/],
    ['a.json', '{"a":1,"b":2}', /holds one JSON object and no list of rows/],
    ['a.json', '[]', /^a\.json has no rows\.$/],
    ['a.geojson', '{"type":"FeatureCollection","features":[]}', /^a\.geojson has no rows\.$/],
    ['a.txt', 'hello world\nthis is text\n', /is text without columns/],
    ['a.csv', 'hello world\n', /has a header but no rows/],
    ['a.csv', '<!DOCTYPE html><html><body>a,b</body></html>', /is an HTML page, not a dataset/],
    [
      'a.xml',
      '<?xml version="1.0"?><ows:ExceptionReport><e>No such layer</e></ows:ExceptionReport>',
      /error message of a service: "No such layer"/,
    ],
    ['a.pdf', binary('%PDF-1.7'), /is a PDF document\.$/],
    ['a.png', binary('\x89PNG\r\n'), /is a PNG image\.$/],
    ['a.tif', binary('II*\0'), /is a TIFF image; rasters cannot be published\.$/],
    ['a.7z', binary("7z\xbc\xaf'\x1c"), /is a 7-Zip archive/],
  ]
  const refused = (path: string, message: RegExp) =>
    assert.rejects(
      compileSnapshot({ path, folder: `${scratch(t)}/snapshot` }),
      (error: Error) => error instanceof SourceError && message.test(error.message),
      `${basename(path)} ${message}`,
    )
  for (const [name, content, message] of cases) await refused(written(t, name, content), message)
  const empty = `${scratch(t)}/empty.shp`
  ogr2ogr('-f', 'ESRI Shapefile', empty, '/usr/lib/R/site-library/sf/shape/nc.shp', '-where', '1 = 0')
  await refused(empty, /^empty\.shp has no rows\.$/)
})
