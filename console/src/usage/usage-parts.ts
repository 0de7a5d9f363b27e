import { sumOf, type UsageDay, type UsageMeasure } from './usage-period.ts'

/** The days of one key. */
export interface UsagePart {
  name: string
  days: readonly UsageDay[]
}

/** One layer of the stacked bars: what it has on each day, and how high it reaches with those below it. */
export interface Layer {
  name: string
  own: number[]
  top: number[]
}

/** Layers of the parts, the largest one lowest, and of what is in none of them. Parts without any are left out. */
export function layersOf(
  days: readonly UsageDay[],
  parts: readonly UsagePart[],
  measure: UsageMeasure,
  restName: string,
): Layer[] {
  const ordered = parts
    .filter((part) => sumOf(part.days, measure) > 0)
    .toSorted((a, b) => sumOf(b.days, measure) - sumOf(a.days, measure))
    .map(({ name, days: own }) => {
      const byDate = new Map(own.map((one) => [one.date, one[measure]]))
      return { name, own: days.map(({ date }) => byDate.get(date) ?? 0) }
    })
  const named = (i: number) => ordered.reduce((sum, { own }) => sum + own[i]!, 0)
  // The parts are counted a moment later than the whole.
  const rest = { name: restName, own: days.map((one, i) => Math.max(0, one[measure] - named(i))) }
  const all = rest.own.some((value) => value > 0) ? [...ordered, rest] : ordered
  const heights = days.map(() => 0)
  return all.map(({ name, own }) => ({
    name,
    own,
    top: own.map((value, i) => {
      heights[i]! += value
      return heights[i]!
    }),
  }))
}
