import { plainText } from '../words.ts'
import type { Place } from './pages.ts'

/** A place or an action, and further words by which it is found. */
export interface FindablePlace extends Place {
  words?: string
  /** What is done instead of opening the address. */
  act?: () => void
}

const MAX_FOUND = 12

/**
 * The places whose texts contain every word of the search: first those whose title begins with it, then those with a
 * word in the title that does, then the others. Without a search, the first ones.
 */
export function findPlaces(places: readonly FindablePlace[], search: string): FindablePlace[] {
  const wanted = plainText(search).trim()
  const words = wanted.split(/\s+/)
  return places
    .map((place) => ({ place, rank: rankOf(place, wanted, words) }))
    .filter(({ rank }) => rank !== null)
    .sort((a, b) => a.rank! - b.rank!)
    .slice(0, MAX_FOUND)
    .map(({ place }) => place)
}

function rankOf({ title, group, words: more = '' }: FindablePlace, wanted: string, words: string[]) {
  const name = plainText(title)
  const text = `${name} ${plainText(group)} ${plainText(more)}`
  if (!words.every((word) => text.includes(word))) return null
  if (name.startsWith(wanted)) return 0
  if (` ${name}`.includes(` ${wanted}`)) return 1
  return name.includes(wanted) ? 2 : 3
}
