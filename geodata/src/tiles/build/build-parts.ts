import { readFileSync, writeFileSync } from 'node:fs'
import { type BuiltFile, writeAtomically } from '../../exports/write-atomically.ts'
import { type Manifest, SNAPSHOT_FILES } from '../../snapshot/manifest.ts'
import { verifyFilesFast } from '../../snapshot/verify.ts'
import { partitionsOf, writePart } from '../archive/part-file.ts'
import type { TileDescription } from '../archive/tile-metadata.ts'
import { buildPartitions } from './build-partitions.ts'
import { type BuiltTiles, joinPartitions, keyOf } from './build-tiles.ts'
import { DEFAULT_MAX_ZOOM } from './choose-max-zoom.ts'
import { PartitionStore } from './partition-store.ts'
import { PartitionThread, type ReplyToAsk } from './partition-threads.ts'
import { type TilePlan, workOf } from './tile-plan.ts'

/** About so many partitions are in a part at least, so that all threads of a machine have work to its end. */
export const PARTITIONS_OF_PART = 16
const MAX_PARTS = 1000

/** What is built together by several processes, also on different machines. */
export interface PartedSnapshot {
  /** The folder of the snapshot; null if its files are read by the process that has started this one. */
  folder: string | null
  manifest: Manifest
  table: string
}

export interface PartOptions {
  signal?: AbortSignal | undefined
  threads?: number | undefined
  onProgress?: ((share: number) => void) | undefined
  /** For a snapshot without a folder. */
  reply?: ReplyToAsk | undefined
}

/** A plan and its parts. Each is built by one process from the plan, and gives the same bytes whichever does. */
interface PlannedParts {
  plan: TilePlan
  /** The end of each part: the number of its last partition, plus one. */
  ends: number[]
}

export interface PlanLimits {
  maxZoom?: number | undefined
  /** A part has about this many bytes in the pack. */
  partBytes: number
}

/** Names everything that is built of a snapshot in parts: equal for builds with the same parts. */
export function partsKey(
  { manifest, table }: Pick<PartedSnapshot, 'manifest' | 'table'>,
  limits: PlanLimits,
): string {
  const { maxZoom = DEFAULT_MAX_ZOOM, partBytes } = limits
  return keyOf(manifest, { table, maxZoom, partitionBytes: partBytes }).slice(0, 32)
}

/** Writes the plan of a snapshot to a file. */
export async function planParts(
  { folder, manifest, table }: PartedSnapshot,
  path: string,
  { maxZoom: zoomLimit = DEFAULT_MAX_ZOOM, partBytes }: PlanLimits,
  { reply }: PartOptions = {},
): Promise<BuiltFile> {
  if (folder !== null) await verifyRead(folder, manifest)
  const thread = new PartitionThread({ folder, table, columns: manifest.columns }, reply)
  const plan = await thread.plan({ zoomLimit, maxBytes: partBytes / PARTITIONS_OF_PART })
  const planned: PlannedParts = { plan, ends: divide(plan, partBytes) }
  return writeAtomically(path, async (partial) => {
    writeFileSync(partial, JSON.stringify(planned))
    return undefined
  })
}

/** The share of all work that each part of a plan is. */
export function sharesOfParts(planPath: string): number[] {
  const { plan, ends } = readPlan(planPath)
  const works = ends.map((end, i) =>
    sum(numbersBetween(ends[i - 1] ?? 0, end).map((one) => workOf(plan, one))),
  )
  const total = sum(works)
  return works.map((work) => work / total)
}

/** Builds a part of a plan. The files of the snapshot have to be verified before, unless they are when they are read. */
export async function buildPart(
  { folder, manifest, table }: PartedSnapshot,
  { planPath, part, path }: { planPath: string; part: number; path: string },
  { reply, ...options }: PartOptions = {},
): Promise<BuiltFile> {
  const { plan, ends } = readPlan(planPath)
  const numbers = numbersBetween(ends[part - 1] ?? 0, ends[part]!)
  const source = { folder, table, columns: manifest.columns }
  return writeAtomically(path, async (partial) => {
    // The folder is removed with the partial file.
    const store = new PartitionStore(`${partial}.parts`, '')
    await store.open(() => plan)
    await buildPartitions({ plan, numbers, store, source, reply }, options)
    const sha256 = writePart(
      partial,
      numbers.map((number) => store.pathOf(number)),
    )
    await store.remove()
    return sha256
  })
}

/** Joins all parts of a plan to the archive of tiles. */
export async function joinParts(
  { manifest }: Pick<PartedSnapshot, 'manifest'>,
  { planPath, parts, path }: { planPath: string; parts: readonly string[]; path: string },
  description: TileDescription,
): Promise<BuiltTiles> {
  const { plan } = readPlan(planPath)
  const places = parts.flatMap(partitionsOf)
  if (places.length !== plan.partitions.length)
    throw new Error('the parts of the tiles are not those of the plan')
  const built = await writeAtomically(path, (partial) =>
    joinPartitions(partial, manifest, description, plan.zooms, places),
  )
  return { ...built, ...plan.zooms }
}

/** Verifies the files that tiles are built from. */
export async function verifyRead(folder: string, manifest: Manifest): Promise<void> {
  await verifyFilesFast(folder, manifest, [SNAPSHOT_FILES.pack, SNAPSHOT_FILES.index])
}

/** Parts of about the same work. */
function divide(plan: TilePlan, partBytes: number): number[] {
  const all = numbersBetween(0, plan.partitions.length)
  const total = sum(all.map((number) => workOf(plan, number)))
  // The first partition is the whole world.
  const parts = Math.min(MAX_PARTS, Math.ceil((plan.partitions[0]?.bytes ?? 0) / partBytes))
  const ends: number[] = []
  let work = 0
  for (const number of all) {
    work += workOf(plan, number)
    if (work < total / parts && number < all.length - 1) continue
    ends.push(number + 1)
    work = 0
  }
  return ends
}

function readPlan(path: string): PlannedParts {
  return JSON.parse(readFileSync(path, 'utf8')) as PlannedParts
}

function numbersBetween(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
