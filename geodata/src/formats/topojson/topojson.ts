import { feature as toFeature } from 'topojson-client'
import type { Feature, FeatureStream, Geometry, SourceColumn, UnreadableRow, Value } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import type { ByteSource } from '../reading/byte-source.ts'
import { chooseLayer } from '../reading/choose-layer.ts'
import { parseJson } from '../reading/parse-json.ts'
import { DEFAULT_LIMITS, largerThan, megabytes, type SourceLimits } from '../reading/source-limits.ts'
import { TextDecoding } from '../reading/text/text-decoding.ts'

type Topology = Parameters<typeof toFeature>[0]
type GeometryObject = Exclude<Parameters<typeof toFeature>[1], string>

const BATCH_ROWS = 1000
/** A batch of large geometries ends earlier. */
const BATCH_BYTES = 1 << 24
const POSITION_BYTES = 16
/** Arcs are shared by all features and usually come last, so the whole file is in memory while it is read. */
const MAX_BYTES = 256 << 20

/** Reads one object of a TopoJSON file, which is a layer. */
export async function openTopojson(
  source: ByteSource,
  options: { layer?: string; limits?: SourceLimits } = {},
): Promise<FeatureStream> {
  const { file } = source
  const limits = options.limits ?? DEFAULT_LIMITS
  const bytes = await readWhole(source)
  const decoding = new TextDecoding(file)
  const text = decoding.decode(bytes)
  if (text.damaged) throw new SourceError(`${file} has text that is not UTF-8.`)
  const topology = parseTopology(text.bytes, file)
  const layers = Object.entries(topology.objects).map(([name, object]) => ({ name, object }))
  const { object } = chooseLayer(layers, options.layer, file)
  const geometries = (
    object.type === 'GeometryCollection' ? (object as { geometries: unknown[] }).geometries : [object]
  ) as GeometryObject[]
  const columns: SourceColumn[] = []
  const places = new Map<string, number>()
  const place = (name: string) => {
    const earlierPlace = places.get(name)
    if (earlierPlace !== undefined) return earlierPlace
    if (columns.length >= limits.columns)
      throw new SourceError(`${file} has more than ${limits.columns} columns.`)
    places.set(name, columns.length)
    return columns.push({ name, type: 'infer-json' }) - 1
  }
  const readRow = (geometry: (typeof geometries)[number], row: number): Feature | UnreadableRow => {
    let shape: Geometry | null
    try {
      shape = (toFeature(topology, geometry) as { geometry?: unknown }).geometry as Geometry | null
    } catch {
      return { row, problem: 'the geometry refers to arcs that the file does not have' }
    }
    const values: Value[] = []
    for (const [name, value] of Object.entries(geometry.properties ?? {}))
      values[place(name)] = value as Value
    for (let i = 0; i < values.length; i++) values[i] ??= null
    const { id } = geometry as { id?: string | number | bigint }
    return { id: id ?? null, values, geometry: shape?.type ? shape : null, row }
  }
  let row = 0
  const arcLengths = topology.arcs.map((arc) => (Array.isArray(arc) ? arc.length : 0))
  return {
    columns,
    notes: decoding.notes(),
    crs: 'OGC:CRS84',
    spatial: true,
    totalBytes: bytes.length,
    get bytesRead() {
      return Math.round((row / Math.max(1, geometries.length)) * bytes.length)
    },
    async *batches() {
      let batch: (Feature | UnreadableRow)[] = []
      let bytes = 0
      for (const geometry of geometries) {
        row++
        const size = positionsOf(geometry, arcLengths) * POSITION_BYTES
        if (size > limits.rowBytes)
          throw new SourceError(`${file}: feature ${row} is ${largerThan(limits.rowBytes)}.`)
        batch.push(readRow(geometry, row))
        bytes += size
        if (batch.length < BATCH_ROWS && bytes < BATCH_BYTES) continue
        yield batch
        batch = []
        bytes = 0
      }
      if (batch.length > 0) yield batch
    },
  }
}

/** How many positions a geometry has. Its arcs may be long, and it may refer to one of them any number of times. */
function positionsOf(geometry: unknown, arcLengths: number[]): number {
  const { arcs, geometries } = (geometry ?? {}) as { arcs?: unknown; geometries?: unknown }
  let positions = countArcs(arcs, arcLengths)
  if (Array.isArray(geometries)) for (const each of geometries) positions += positionsOf(each, arcLengths)
  return positions
}

function countArcs(arcs: unknown, arcLengths: number[]): number {
  // A negative number is an arc in reverse: -1 is the first.
  if (typeof arcs === 'number') return arcLengths[arcs < 0 ? ~arcs : arcs] ?? 0
  let positions = 0
  if (Array.isArray(arcs)) for (const each of arcs) positions += countArcs(each, arcLengths)
  return positions
}

async function readWhole({ bytes, file }: ByteSource): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of bytes) {
    length += piece.length
    if (length > MAX_BYTES)
      throw new SourceError(
        `${file} is larger than ${megabytes(MAX_BYTES)}, the limit for TopoJSON. Publish it as GeoJSON or GeoPackage.`,
      )
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

function parseTopology(bytes: Buffer, file: string): Topology {
  let parsed: unknown
  try {
    parsed = parseJson(bytes.toString('utf8').replace(/^\ufeff/, ''))
  } catch (error) {
    throw new SourceError(`${file} is not valid JSON: ${(error as Error).message}.`)
  }
  const { objects, arcs } = parsed as { objects?: unknown; arcs?: unknown }
  if (typeof objects !== 'object' || objects === null || !Array.isArray(arcs))
    throw new SourceError(`${file} is not whole TopoJSON: its objects or its arcs are missing.`)
  return parsed as Topology
}
