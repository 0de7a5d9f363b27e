import { BoundedCache, SingleFlights } from '@wayleave/geodata/base'
import type { Snapshot } from '@wayleave/geodata/features'
import type { Geometry } from '@wayleave/geodata/geometry'
import type { Condition } from '../cql2/condition.ts'
import { decideInBox } from '../cql2/evaluate/decide-in-box.ts'
import { evaluator } from '../cql2/evaluate/evaluate.ts'
import type { GeometryCache } from '../features/geometry-cache.ts'
import { PositionMask } from './position-mask.ts'

/** The memory of all cached masks with their keys, and again of all masks that are being made, in bytes. */
const MAX_BYTES = 64 << 20
/** The masks of one filter. They are held until the filter's request has ended, even if they leave the cache. */
export const MAX_MASKS = 4
/** Geometries that are read for one mask. If boxes leave more features undecided, the database decides. */
const MAX_READS = 2000
/** Runs of the tree between two looks at the clock. */
const STEP = 64

/**
 * The positions for which conditions on the geometry alone are true or false, found by the tree and cached. See
 * docs/decisions/compiled-columns.md.
 */
export class PlaceMasks {
  readonly #geometries: GeometryCache
  /** By snapshot, value and condition; null if too many geometries would have to be read. */
  readonly #masks = new BoundedCache<string, PositionMask | null>(
    MAX_BYTES,
    // The key has the condition's text, which may be longer than the mask.
    (mask, key) => (mask?.bytes ?? 0) + key.length + 200,
  )

  /** The parts of one map view ask for the same mask at once. */
  readonly #making = new SingleFlights<string, void>()
  /** The memory of the masks that are being made. */
  #makingBytes = 0

  constructor(geometries: GeometryCache) {
    this.#geometries = geometries
  }

  /** The positions for which the condition has the value `isTrue`; null if the database has to decide. */
  of(snapshot: Snapshot, condition: Condition, isTrue: boolean): PositionMask | PendingMask | null {
    if (PositionMask.bytesOf(snapshot.manifest.rows) > MAX_BYTES / MAX_MASKS) return null
    const key = `${snapshot.folder}\n${isTrue}\n${textOf(condition)}`
    const mask = this.#masks.get(key)
    if (mask !== undefined) return mask
    const request = { snapshot, condition, isTrue, geometries: this.#geometries }
    return {
      evaluate: async (pause) => {
        let isOwn = false
        const making = this.#making.run(key, () => {
          isOwn = true
          return this.#make(key, request, pause)
        })
        // The request that makes the mask may be aborted: then this one makes it when it asks again.
        await making.catch((error: unknown) => {
          if (isOwn) throw error
        })
        if (!isOwn) await pause()
      },
    }
  }

  async #make(key: string, request: MaskRequest, pause: () => Promise<void>): Promise<void> {
    const bytes = PositionMask.bytesOf(request.snapshot.manifest.rows)
    // Without a mask the database decides, whose requests wait in a fair queue.
    if (this.#makingBytes + bytes > MAX_BYTES) return
    this.#makingBytes += bytes
    try {
      this.#masks.set(key, await makeMask(request, pause))
    } finally {
      this.#makingBytes -= bytes
    }
  }
}

/** A mask that has to be made, in time slices. */
export interface PendingMask {
  /** Makes the mask and caches it; `pause` is called after every few steps. */
  evaluate(pause: () => Promise<void>): Promise<void>
}

interface MaskRequest {
  snapshot: Snapshot
  condition: Condition
  isTrue: boolean
  geometries: GeometryCache
}

async function makeMask(
  { snapshot, condition, isTrue, geometries }: MaskRequest,
  pause: () => Promise<void>,
): Promise<PositionMask | null> {
  const { tree, manifest } = snapshot
  const test = evaluator(condition)
  const matches = (geometry: Geometry | null) => test({ properties: {}, geometry }) === isTrue
  const mask = new PositionMask(manifest.rows)
  let reads = 0
  /** Tests positions one by one; returns false if too many geometries have to be read. */
  const testEach = async (begin: number, end: number): Promise<boolean> => {
    for (let position = begin; position < end; position++) {
      let geometry = geometries.peek(snapshot, position)
      if (geometry === undefined) {
        if (++reads > MAX_READS) return false
        geometry = await geometries.read(snapshot, position)
        await pause()
      }
      if (matches(geometry)) mask.addRun(position, position + 1)
    }
    return true
  }
  const decide = decideInBox(isTrue ? condition : { kind: 'not', arg: condition })
  let steps = 0
  for (const { begin, end, isCertain, isBlocked } of tree.runsWhere(decide, 0)) {
    if (isBlocked) {
      await tree.loadMissing()
      continue
    }
    if (isCertain) mask.addRun(begin, end)
    else if (!(await testEach(begin, end))) return null
    if (++steps % STEP === 0) await pause()
  }
  // Features without a place come last: their geometries are missing or empty.
  const isMissingMatch = matches(null)
  if (isMissingMatch !== matches({ type: 'Point', coordinates: [] })) {
    return (await testEach(tree.count, manifest.rows)) ? mask : null
  }
  if (isMissingMatch && tree.count < manifest.rows) mask.addRun(tree.count, manifest.rows)
  return mask
}

/** JSON has no bigints. Writing a polygon of 12,000 corners takes 7 ms with a look at each value, and 3 without. */
function textOf(condition: Condition): string {
  try {
    return JSON.stringify(condition)
  } catch {
    return JSON.stringify(condition, (_name, value: unknown) =>
      typeof value === 'bigint' ? `${value}n` : value,
    )
  }
}
