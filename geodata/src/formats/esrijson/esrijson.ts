import type {
  ColumnType,
  Feature,
  FeatureStream,
  Geometry,
  SourceColumn,
  UnreadableRow,
  Value,
} from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { JsonElements } from '../json/json.ts'
import { type ByteSource, peek } from '../reading/byte-source.ts'
import { parseJson } from '../reading/parse-json.ts'
import { DEFAULT_LIMITS, type SourceLimits } from '../reading/source-limits.ts'
import { type EsriGeometry, hasThirdNumber, readEsriGeometry, thirdNumberOf } from './esri-geometry.ts'

/** What precedes the features: the fields with their domains can be long. */
const HEAD_BYTES = 4 << 20

interface EsriField {
  name: string
  type?: string
}

interface EsriHead {
  fields?: EsriField[]
  objectIdFieldName?: string
  hasZ?: unknown
  hasM?: unknown
  spatialReference?: { wkid?: number; latestWkid?: number; wkt?: string }
}

/** Reads the JSON of Esri's feature services: `fields`, then `features` with attributes and geometry. */
export async function openEsrijson(
  source: ByteSource,
  options: { limits?: SourceLimits } = {},
): Promise<FeatureStream> {
  const limits = options.limits ?? DEFAULT_LIMITS
  const { file } = source
  const [head, whole] = await peek(source, HEAD_BYTES)
  const { members, at } = readEsriHead(head, file)
  const elements = new JsonElements(whole, { at, inArray: true, closing: '}' }, limits)
  const blocks = elements.blocks()
  const first: unknown[] = (await blocks.next()).value ?? []
  const table = new EsriTable(file, members, limits)
  const notes: string[] = []
  const reference = members.spatialReference ?? referenceOf(first[0])
  return {
    columns: table.columns,
    notes,
    crs: crsOf(reference),
    spatial: true,
    totalBytes: source.totalBytes,
    get bytesRead() {
      return elements.bytesRead
    },
    async *batches() {
      try {
        if (first.length > 0) yield first.map((element) => table.row(element))
        for await (const block of blocks) yield block.map((element) => table.row(element))
        notes.push(...table.notes())
      } finally {
        await blocks.return(undefined)
      }
    },
  }
}

/** The members before `features`, and the offset of its first element. */
function readEsriHead(head: Buffer, file: string): { members: EsriHead; at: number } {
  const text = head.toString('latin1')
  for (const match of text.matchAll(/"features"\s*:\s*\[/g)) {
    const at = match.index + match[0].length
    try {
      const before = head
        .subarray(0, match.index)
        .toString('utf8')
        .replace(/^\ufeff/, '')
        .trimEnd()
      const members = parseJson(`${before}"features":[]}`) as unknown as EsriHead
      return { members, at }
    } catch {
      // This is a text or a member of another object.
    }
  }
  throw new SourceError(`${file} has no features within its first ${HEAD_BYTES >> 20} MB.`)
}

function referenceOf(element: unknown): EsriHead['spatialReference'] {
  const { geometry } = (element ?? {}) as { geometry?: { spatialReference?: EsriHead['spatialReference'] } }
  return geometry?.spatialReference
}

/** Codes from 100,000 on, and some from 37,000 on, are Esri's own. */
function crsOf(reference: EsriHead['spatialReference']): string | null {
  const code = reference?.latestWkid ?? reference?.wkid
  if (code) return `${code >= 100_000 ? 'ESRI' : 'EPSG'}:${code}`
  return reference?.wkt || null
}

type Row = { attributes?: { [name: string]: Value } | null; geometry?: EsriGeometry | null }

class EsriTable {
  readonly columns: SourceColumn[] = []
  readonly #file: string
  readonly #limits: SourceLimits
  readonly #idField: string | undefined
  readonly #places = new Map<string, number>()
  readonly #times = new Set<string>()
  readonly #head: EsriHead
  #count = 0
  #unstatedHeights = 0
  #omittedMeasures = 0

  constructor(file: string, head: EsriHead, limits: SourceLimits) {
    const { fields = [], objectIdFieldName } = head
    this.#head = head
    this.#file = file
    this.#limits = limits
    this.#idField =
      objectIdFieldName ?? fields.find(({ type }) => type === 'esriFieldTypeOID')?.name ?? undefined
    for (const { name, type = '' } of fields) {
      if (type === 'esriFieldTypeGeometry') continue
      if (type === 'esriFieldTypeDate') this.#times.add(name)
      if (name !== this.#idField) this.#addColumn(name, columnType(type))
    }
  }

  row(element: unknown): Feature | UnreadableRow {
    const row = ++this.#count
    if (typeof element === 'string') return { row, problem: element }
    const { attributes, geometry } = element as Row
    const shape = geometry ? this.#shape(geometry) : null
    if (typeof shape === 'string') return { row, problem: shape }
    const values: Value[] = new Array(this.columns.length).fill(null)
    let id: Feature['id'] = null
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (name === this.#idField) {
        id =
          typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string' ? value : null
        continue
      }
      const place = this.#places.get(name) ?? this.#addColumn(name, 'infer-json')
      while (values.length < place) values.push(null)
      values[place] = this.#times.has(name) && typeof value === 'number' ? timeText(value) : value
    }
    return { id, values, geometry: shape, row }
  }

  #shape(geometry: EsriGeometry): Geometry | null | string {
    const third = thirdNumberOf(geometry, this.#head)
    const shape = readEsriGeometry(geometry, third)
    if (third !== 'height' && hasThirdNumber(geometry)) {
      if (third === 'measure') this.#omittedMeasures++
      else this.#unstatedHeights++
    }
    return shape
  }

  /** What the third numbers of positions were taken for. */
  notes(): string[] {
    const notes: string[] = []
    if (this.#unstatedHeights > 0)
      notes.push(
        `The positions of ${features(this.#unstatedHeights)} have a third number, and the file has neither "hasZ" nor "hasM": it was taken as the height.`,
      )
    if (this.#omittedMeasures > 0)
      notes.push(
        `The measures ("hasM") in the positions of ${features(this.#omittedMeasures)} were left out; they are not heights.`,
      )
    return notes
  }

  #addColumn(name: string, type: SourceColumn['type']): number {
    const place = this.columns.length
    if (place >= this.#limits.columns)
      throw new SourceError(`${this.#file} has more than ${this.#limits.columns} columns.`)
    this.#places.set(name, place)
    this.columns.push({ name, type })
    return place
  }
}

function features(count: number): string {
  return count === 1 ? '1 feature' : `${count} features`
}

/** Dates are milliseconds since 1970 in UTC. */
function timeText(milliseconds: number): string | null {
  const date = new Date(milliseconds)
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}

function columnType(type: string): ColumnType | 'infer-json' {
  switch (type.replace('esriFieldType', '')) {
    case 'SmallInteger':
    case 'Integer':
    case 'BigInteger':
    case 'OID':
      return 'integer'
    case 'Single':
    case 'Double':
      return 'number'
    case 'Date':
      return 'timestamp'
    case 'DateOnly':
      return 'date'
    case 'String':
    case 'GUID':
    case 'GlobalID':
    case 'XML':
      return 'text'
    default:
      return 'infer-json'
  }
}
