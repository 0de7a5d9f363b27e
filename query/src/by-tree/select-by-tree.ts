import type { Snapshot } from '@wayleave/geodata/features'
import type { Manifest } from '@wayleave/geodata/snapshot'
import type { DecideInBox } from '../cql2/evaluate/decide-in-box.ts'
import type { GeometryCache } from '../features/geometry-cache.ts'
import type { BoxQuery } from '../plan/box-query.ts'
import type { FilterPlan } from '../plan/plan-filter.ts'
import type { FeatureSelection } from '../positions/feature-selection.ts'
import type { PageBuilder } from '../positions/page-builder.ts'
import type { TimedWork } from '../work/timed-work.ts'
import { isDecidedByTree, meets } from './select-by-box.ts'

/**
 * Selects features by a filter that depends only on the geometry, in snapshot order: whole nodes of the tree
 * at once if their boxes decide, and one by one the features that boxes do not decide and those without a
 * geometry.
 */
export async function selectByTree(
  { snapshot, plan, box, after }: FeatureSelection & { plan: FilterPlan },
  decide: DecideInBox,
  page: PageBuilder,
  { work, geometries }: { work: TimedWork; geometries: GeometryCache },
): Promise<void> {
  const { tree } = snapshot
  const decideBoth = box ? both(decideByBox(box, isDecidedByTree(snapshot, box)), decide) : decide
  for (const { begin, end, isCertain, isBlocked } of tree.runsWhere(decideBoth, after + 1)) {
    if (isBlocked) await tree.loadMissing()
    else if (isCertain) page.addRun(begin, end)
    else {
      for (let position = begin; position < end; position++) {
        const cached = geometries.peek(snapshot, position)
        const geometry = cached === undefined ? await geometries.read(snapshot, position) : cached
        if (plan.matches({ properties: {}, geometry }) && (!box || meets(geometry, box))) page.add(position)
        if (page.isFull) return
        await work.next()
      }
    }
    if (page.isFull) return
    if (!isBlocked) await work.next()
  }
  if (!page.isFull) await addPlaceless(snapshot, plan, after, page, { geometries, work })
}

/** Adds matching features without a geometry. They come after those of the tree and match every box. */
async function addPlaceless(
  snapshot: Snapshot,
  plan: FilterPlan,
  after: number,
  page: PageBuilder,
  { geometries, work }: { geometries: GeometryCache; work: TimedWork },
): Promise<void> {
  const { tree, manifest } = snapshot
  const first = Math.max(tree.count, after + 1)
  const all = placelessMatch(manifest, plan)
  if (all === true) page.addRun(first, manifest.rows)
  if (all !== undefined) return
  for (let position = first; position < manifest.rows && !page.isFull; position++) {
    const geometry = await geometries.read(snapshot, position)
    if (plan.matches({ properties: {}, geometry })) page.add(position)
    await work.next()
  }
}

/**
 * Decides by their box whether features match the query's box. `canTell` is whether everything inside the
 * query's box certainly matches.
 */
function decideByBox({ box: [west, south, east, north] }: BoxQuery, canTell: boolean): DecideInBox {
  const [first, second] =
    west > east
      ? [
          [west, Infinity],
          [-Infinity, east],
        ]
      : [
          [west, east],
          [Infinity, -Infinity],
        ]
  const overlaps = ([from, to]: number[], w: number, e: number) => w <= to! && e >= from!
  const holds = ([from, to]: number[], w: number, e: number) => w >= from! && e <= to!
  return (w, s, e, n) => {
    const isNear = s <= north && n >= south && (overlaps(first!, w, e) || overlaps(second!, w, e))
    if (!isNear || !canTell) return isNear ? undefined : false
    const isInside = s >= south && n <= north && (holds(first!, w, e) || holds(second!, w, e))
    return isInside ? true : undefined
  }
}

function both(one: DecideInBox, other: DecideInBox): DecideInBox {
  return (...box) => {
    const first = one(...box)
    if (first === false) return false
    const second = other(...box)
    return second === true ? first : second
  }
}

/** Whether all features without a geometry match, or none; undefined if each has to be tested. */
function placelessMatch({ geometryType }: Manifest, { matches }: FilterPlan): boolean | undefined {
  const ofMissing = matches({ properties: {}, geometry: null })
  if (geometryType === null) return ofMissing
  const ofEmpty = matches({ properties: {}, geometry: { type: 'Point', coordinates: [] } })
  return ofMissing === ofEmpty ? ofMissing : undefined
}
