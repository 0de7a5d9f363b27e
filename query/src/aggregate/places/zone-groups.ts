import { SingleFlights } from '@wayleave/geodata/base'
import { type Codes, type ColumnCache, type Snapshot, sliceFeature } from '@wayleave/geodata/features'
import { type Geometry, writeWkb } from '@wayleave/geodata/geometry'
import { parseFeature } from '../../features/parse-feature.ts'
import { invalidParameter } from '../../query-error.ts'
import type { TimedWork } from '../../work/timed-work.ts'
import type { GeometryForm, ResultColumn, ResultValue, ZoneSource } from '../aggregate-query.ts'
import type { Block } from '../columns/block.ts'
import { type InGeometryThread, packedFeatures } from '../geometries/in-geometry-thread.ts'
import type { GroupDimension } from '../groups/group-dimension.ts'

/** The max number of zones, and the max bytes of their features. */
const MAX_ZONES = 50_000
const MAX_ZONE_BYTES = 256 << 20
/** Larger texts of geometries are parsed in the thread. */
const MAX_PARSED = 16 << 10
const NULL = 'null'
/** An estimate of what a name takes beside its text. */
const NAME_BYTES = 40

/** The zone of each position plus 1; 0 for positions outside of all zones. */
type ZoneOf = Codes

/** A dimension of zones. */
export interface ZoneQuery {
  name: string
  snapshot: Snapshot
  zones: ZoneSource
  label: string | null
  /** Two numbers for each feature, in memory that threads share. */
  places: Float64Array
}

interface ZoneNames {
  ids: ResultValue[]
  labels: ResultValue[] | null
  /** An estimate of its memory. */
  bytes: number
}

/**
 * The features of one dataset in whose areas the places of another one lie. They are kept in the memory of the columns.
 */
export class ZoneCache {
  readonly #cache: ColumnCache
  readonly #thread: InGeometryThread
  readonly #locating = new SingleFlights<string, void>()

  constructor(cache: ColumnCache, thread: InGeometryThread) {
    this.#cache = cache
    this.#thread = thread
  }

  groups(
    { name, snapshot, zones: source, label, places }: ZoneQuery,
    work: TimedWork,
  ): Promise<GroupDimension> {
    return source(async (zones) => {
      requireFew(zones)
      const zoneOf = await this.#zoneOf(snapshot, zones, places, work)
      const names = await this.#namesOf(zones, label, work)
      const geometryOf = (zone: number, form: GeometryForm) =>
        source(async (current) => (current === zones ? this.#geometry(zones, zone, form) : null))
      return new ZoneGroups(columnsOf(zones, name, label), zoneOf, names, geometryOf)
    })
  }

  async #zoneOf(snapshot: Snapshot, zones: Snapshot, places: Float64Array, work: TimedWork): Promise<ZoneOf> {
    const key = `${snapshot.folder}\nwithin\n${zones.folder}`
    for (;;) {
      const cached = this.#cache.derived<ZoneOf>(key)
      if (cached) return cached
      let own: ZoneOf | null = null
      let isOwn = false
      const locating = this.#locating.run(key, async () => {
        isOwn = true
        own = await this.#locate(snapshot, zones, places, work)
        this.#cache.keep(key, own, own.byteLength)
      })
      // The request that locates may be aborted: then this one does it.
      await locating.catch((error: unknown) => {
        if (isOwn) throw error
      })
      if (own) return own
      work.check()
    }
  }

  /** In a thread: preparing a zone of a million corners takes a second. */
  async #locate(
    { manifest }: Snapshot,
    zones: Snapshot,
    points: Float64Array,
    work: TimedWork,
  ): Promise<ZoneOf> {
    const { count } = zones.tree
    const zoneOf =
      count < 65_535
        ? new Uint16Array(new SharedArrayBuffer(manifest.rows * 2))
        : new Uint32Array(new SharedArrayBuffer(manifest.rows * 4))
    const nodes = await this.#thread.perform('tree', { places: points })
    for (let first = 0; first < count; ) {
      const { to, features } = await packedFeatures(zones, first, count)
      await this.#thread.perform('zones', { places: { points, nodes, zoneOf }, first, features })
      first = to
      work.check()
    }
    return zoneOf
  }

  async #geometry(zones: Snapshot, zone: number, form: GeometryForm): Promise<Uint8Array | null> {
    const feature = await zones.readPack(zone, zone + 1)
    const text = sliceFeature(feature).geometry
    if (text.length === NULL.length && text.toString() === NULL) return null
    if (form === 'geojson') return text
    if (text.length <= MAX_PARSED) return writeWkb(JSON.parse(text.toString()) as Geometry)
    // A copy, because its memory moves to the thread.
    const features = { bytes: new Uint8Array(feature), bounds: Float64Array.of(0, feature.length) }
    return this.#thread.perform('wkb', { features })
  }

  async #namesOf(zones: Snapshot, label: string | null, work: TimedWork): Promise<ZoneNames> {
    const key = `${zones.folder}\nnames\n${label ?? ''}`
    let names = this.#cache.derived<ZoneNames>(key)
    if (names === undefined) {
      names = await readNames(zones, label, work)
      this.#cache.keep(key, names, names.bytes)
    }
    return names
  }
}

async function readNames(zones: Snapshot, label: string | null, work: TimedWork): Promise<ZoneNames> {
  const names: ZoneNames = { ids: [], labels: label === null ? null : [], bytes: 0 }
  for (let zone = 0; zone < zones.tree.count; zone++) {
    const { id, properties } = sliceFeature(await zones.readPack(zone, zone + 1))
    const feature = `{"type":"Feature","id":${id},"geometry":null,"properties":${properties}}`
    const parsed = parseFeature(Buffer.from(feature))
    const text = label === null ? null : ((parsed.properties[label] ?? null) as ResultValue)
    names.ids.push(parsed.id)
    names.labels?.push(text)
    names.bytes += 2 * (NAME_BYTES + String(parsed.id).length + String(text).length)
    await work.next()
  }
  return names
}

function requireFew({ manifest: { rows }, packBytes: bytes }: Snapshot): void {
  if (rows <= MAX_ZONES && bytes <= MAX_ZONE_BYTES) return
  const max = `${MAX_ZONES} features and ${MAX_ZONE_BYTES >> 20} MB`
  throw invalidParameter(
    'groupby',
    `names zones of ${rows} features and ${bytes >> 20} MB; the limit is ${max}`,
  )
}

function columnsOf({ manifest }: Snapshot, name: string, label: string | null): ResultColumn[] {
  const column = manifest.columns.find((each) => each.name === label)
  const id = { name, type: manifest.id.type }
  return column ? [id, { name: `${name}.${column.name}`, type: column.type as ResultColumn['type'] }] : [id]
}

type GeometryOf = (zone: number, form: GeometryForm) => Promise<Uint8Array | null>

class ZoneGroups implements GroupDimension {
  readonly size: number
  readonly columns: readonly ResultColumn[]
  readonly #zoneOf: ZoneOf
  readonly #names: ZoneNames
  readonly #geometryOf: GeometryOf

  constructor(columns: ResultColumn[], zoneOf: ZoneOf, names: ZoneNames, geometryOf: GeometryOf) {
    this.columns = columns
    this.size = names.ids.length + 1
    this.#zoneOf = zoneOf
    this.#names = names
    this.#geometryOf = geometryOf
  }

  number(block: Block, groups: Uint32Array): Uint32Array {
    return block.gather(this.#zoneOf, groups)
  }

  values(group: number): ResultValue[] {
    const { ids, labels } = this.#names
    const id = group === 0 ? null : ids[group - 1]!
    if (this.columns.length === 1) return [id]
    return [id, group === 0 ? null : labels![group - 1]!]
  }

  order(group: number): number | bigint | string {
    return this.#names.ids[group - 1] as number | bigint | string
  }

  geometry(group: number, form: GeometryForm): Promise<Uint8Array | null> {
    return this.#geometryOf(group - 1, form)
  }
}
