import { looksLikeDbf } from './dbf-signature.ts'
import { utf16Of } from './text/text-decoding.ts'

/** The format of a file, detected from its content. */
export type Kind =
  | 'geojson'
  | 'topojson'
  | 'esrijson'
  | 'json'
  | 'csv'
  | 'shapefile'
  | 'dbf'
  | 'geopackage'
  | 'flatgeobuf'
  | 'parquet'
  | 'arrow'
  | 'pgcopy'
  | 'kml'
  | 'gpx'
  | 'gml'
  | 'mapinfo'
  | 'xls'
  | 'zip'
  | 'gzip'
  | 'zstd'
  | 'tar'
  | 'empty'
  | 'xml'
  | 'binary'

const MAGIC: [kind: Kind, bytes: number[]][] = [
  ['geopackage', [...Buffer.from('SQLite format 3\0')]],
  ['flatgeobuf', [0x66, 0x67, 0x62, 0x03, 0x66, 0x67, 0x62]],
  ['parquet', [...Buffer.from('PAR1')]],
  ['arrow', [...Buffer.from('ARROW1\0\0')]],
  // An Arrow stream: a continuation mark before the schema message, whose length is below 16 MB.
  ['arrow', [0xff, 0xff, 0xff, 0xff]],
  ['pgcopy', [...Buffer.from('WLPGCOPY')]],
  ['shapefile', [0x00, 0x00, 0x27, 0x0a]],
  ['zip', [0x50, 0x4b, 0x03, 0x04]],
  ['zip', [0x50, 0x4b, 0x05, 0x06]],
  ['gzip', [0x1f, 0x8b]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ['xls', [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]],
]

export function sniff(head: Buffer): Kind {
  if (head.length === 0) return 'empty'
  for (const [kind, bytes] of MAGIC) if (bytes.every((byte, i) => head[i] === byte)) return kind
  if (head.subarray(257, 262).toString('latin1') === 'ustar') return 'tar'
  const encoding = utf16Of(head)
  const text = encoding
    ? new TextDecoder(encoding).decode(head)
    : head.toString('utf8').replace(/^\ufeff/, '')
  if (!encoding && looksLikeDbf(head)) return 'dbf'
  if (!encoding && isBinary(head)) return 'binary'
  return sniffText(text)
}

/** Text contains no NUL bytes and hardly any other control characters, except an occasional separator. */
export function isBinary(head: Uint8Array): boolean {
  let control = 0
  for (const byte of head) {
    if (byte === 0) return true
    if (byte < 0x09 || (byte > 0x0d && byte < 0x20 && byte !== 0x1b && byte !== 0x1e)) control++
  }
  return control > head.length / 100
}

const KML_ROOT = /<(\w+:)?kml[\s>]/i
/** A document without the root element, as fragments of KML are passed around. */
const KML_PART = /^(<\?[^>]*>\s*|<!--((?!-->)[\s\S])*-->\s*)*<(\w+:)?(Document|Folder|Placemark)[\s>]/
const PLACEMARK = /<(\w+:)?Placemark[\s>]/

function sniffText(text: string): Kind {
  const trimmed = text.trimStart()
  if (trimmed === '') return 'empty'
  switch (trimmed[0]) {
    case '<':
      return sniffXml(trimmed)
    case '{':
      return sniffObject(trimmed)
    case '[':
      return 'json'
    case '\u001e':
      return 'geojson'
    default:
      return isMapinfo(trimmed) ? 'mapinfo' : 'csv'
  }
}

function sniffXml(text: string): Kind {
  if (KML_ROOT.test(text) || (KML_PART.test(text) && PLACEMARK.test(text))) return 'kml'
  const root = /<([a-z_][\w.-]*:)?([a-z_][\w.-]*)[\s>]/i.exec(text.replace(/<!--.*?-->/gs, ''))
  if (root?.[2]?.toLowerCase() === 'gpx') return 'gpx'
  return /["'][^"']*opengis\.net\/gml/.test(text) ? 'gml' : 'xml'
}

/** The header of a MapInfo table (.tab) or interchange file (.mif). */
function isMapinfo(text: string): boolean {
  return /^!table\s/i.test(text) || /^version\s+\d+\s*\r?\ncharset\s+"/i.test(text)
}

const GEOJSON_TYPE =
  /^"(FeatureCollection|Feature|(Multi)?(Point|LineString|Polygon|Polyhedron|Prism)|GeometryCollection|CircularString|CompoundCurve|CurvePolygon|MultiCurve|MultiSurface)"/
const MEMBER = /\s*:\s*/y
const STRING = /"(?:[^"\\]|\\.)*"/y
/** Members that only Esri's JSON has beside its features. */
const ESRI_MEMBERS = ['"geometryType"', '"spatialReference"', '"objectIdFieldName"', '"displayFieldName"']

/** Distinguishes the dialects of JSON by the top-level members of the first object. */
function sniffObject(text: string): Kind {
  let depth = 0
  let hasType = false
  let isEsri = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') {
      if (--depth === 0) break
    } else if (character === '"') {
      STRING.lastIndex = at
      const name = STRING.exec(text)?.[0]
      if (!name) break
      at += name.length - 1
      MEMBER.lastIndex = at + 1
      if (depth !== 1 || !MEMBER.test(text)) continue
      const value = text.slice(MEMBER.lastIndex, MEMBER.lastIndex + 30)
      if (name === '"features"' && value.startsWith('['))
        return isEsri || isEsriFeature(text.slice(MEMBER.lastIndex)) ? 'esrijson' : 'geojson'
      if (ESRI_MEMBERS.includes(name)) isEsri = true
      if (name !== '"type"') continue
      if (value.startsWith('"Topology"')) return 'topojson'
      hasType = GEOJSON_TYPE.test(value)
      if (!hasType && !isEsri) return 'json'
    }
  }
  return hasType ? 'geojson' : 'json'
}

function isEsriFeature(features: string): boolean {
  return /^\[\s*\{\s*("geometry"\s*:\s*\{\s*"(x|rings|paths|points)"|"attributes"\s*:\s*\{)/.test(features)
}
