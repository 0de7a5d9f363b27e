import { utf16Of } from './text-decoding.ts'

/** The format of a file, detected from its content. */
export type Kind =
  | 'geojson'
  | 'json'
  | 'csv'
  | 'shapefile'
  | 'geopackage'
  | 'flatgeobuf'
  | 'parquet'
  | 'kml'
  | 'zip'
  | 'gzip'
  | 'tar'
  | 'empty'
  | 'xml'
  | 'binary'

const MAGIC: [kind: Kind, bytes: number[]][] = [
  ['geopackage', [...Buffer.from('SQLite format 3\0')]],
  ['flatgeobuf', [0x66, 0x67, 0x62, 0x03, 0x66, 0x67, 0x62]],
  ['parquet', [...Buffer.from('PAR1')]],
  ['shapefile', [0x00, 0x00, 0x27, 0x0a]],
  ['zip', [0x50, 0x4b, 0x03, 0x04]],
  ['zip', [0x50, 0x4b, 0x05, 0x06]],
  ['gzip', [0x1f, 0x8b]],
]

export function sniff(head: Buffer): Kind {
  if (head.length === 0) return 'empty'
  for (const [kind, bytes] of MAGIC) if (bytes.every((byte, i) => head[i] === byte)) return kind
  if (head.subarray(257, 262).toString('latin1') === 'ustar') return 'tar'
  const encoding = utf16Of(head)
  const text = encoding
    ? new TextDecoder(encoding).decode(head)
    : head.toString('utf8').replace(/^\ufeff/, '')
  if (!encoding && isBinary(head)) return 'binary'
  return sniffText(text)
}

/** Text contains no NUL bytes and hardly any other control characters, except an occasional separator. */
function isBinary(head: Buffer): boolean {
  let control = 0
  for (const byte of head) {
    if (byte === 0) return true
    if (byte < 0x09 || (byte > 0x0d && byte < 0x20 && byte !== 0x1b && byte !== 0x1e)) control++
  }
  return control > head.length / 100
}

const KML_ROOT = /<(\w+:)?kml[\s>]/i
/** A document without the root element, as fragments of KML are passed around. */
const KML_PART = /^(<\?[^>]*\?>\s*|<!--[\s\S]*?-->\s*)*<(\w+:)?(Document|Folder|Placemark)[\s>]/
const PLACEMARK = /<(\w+:)?Placemark[\s>]/

function sniffText(text: string): Kind {
  const trimmed = text.trimStart()
  if (trimmed === '') return 'empty'
  switch (trimmed[0]) {
    case '<':
      return KML_ROOT.test(trimmed) || (KML_PART.test(trimmed) && PLACEMARK.test(trimmed)) ? 'kml' : 'xml'
    case '{':
      return isGeojson(trimmed) ? 'geojson' : 'json'
    case '[':
      return 'json'
    case '\u001e':
      return 'geojson'
    default:
      return 'csv'
  }
}

const GEOJSON_TYPE =
  /^"(FeatureCollection|Feature|Topology|(Multi)?(Point|LineString|Polygon)|GeometryCollection)"/
const MEMBER = /\s*:\s*/y
const STRING = /"(?:[^"\\]|\\.)*"/y

/** Whether the top-level members of the first object are those of GeoJSON. */
function isGeojson(text: string): boolean {
  let depth = 0
  let hasType = false
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
      if (name === '"features"' && value.startsWith('[')) return true
      if (name !== '"type"') continue
      hasType = GEOJSON_TYPE.test(value)
      if (!hasType) return false
    }
  }
  return hasType
}
