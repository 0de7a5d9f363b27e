/**
 * The predicates of annex A of CQL2 (OGC 21-065) and how many features of the standard's test dataset each of
 * them selects. Both are read from a checkout of the standard's repository, opengeospatial/ogcapi-features.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Api, Suite } from './suite.ts'

export const TEST_DATASET = 'data/ne110m4cql2.gpkg'

export interface Predicate {
  /** The layer of the test dataset. */
  layer: string
  filter: string
  expected: number
}

/** The layer and the form of combinations, which the tables of combinations leave out. */
const COMBINED_LAYER = 'ne_110m_populated_places_simple'
const combined = (p1: string, p2: string, p3: string, p4: string) =>
  `(NOT (${p2}) AND ${p1}) OR (${p3} and ${p4}) or not (${p1} OR ${p4})`

const TABLE = /^\|.*\|Expected number of items\n([\s\S]*?)^\|===/gm
/** A cell: code between backticks, or anything up to the next bar. */
const CELL = /\|\s*(?:`((?:[^`]|`(?!\s*(?:\||$)))*)`|([^|]*))/g

/** `folder` is `cql2/standard` of the checkout. */
export function readPredicates(folder: string): Predicate[] {
  return readdirSync(folder)
    .filter((name) => /^annex_ats_.*\.adoc$/.test(name))
    .sort()
    .flatMap((name) => [...readFileSync(join(folder, name), 'utf8').matchAll(TABLE)])
    .flatMap(([, rows]) => rows!.trim().split('\n').map(predicateOf))
}

function predicateOf(row: string): Predicate {
  const cells = [...row.matchAll(CELL)].map(([, code, text]) => unescaped(code ?? text!.trim()))
  const expected = Number(cells.pop())
  if (cells.length < 2 || !Number.isInteger(expected)) {
    throw new Error(`This row of a table was not understood: ${row}`)
  }
  const isCombined = cells.length === 4
  // Some tables begin with a conformance class that the predicate needs.
  const [layer, filter] = isCombined
    ? [COMBINED_LAYER, combined(...(cells as [string, string, string, string]))]
    : (cells.slice(-2) as [string, string])
  return { layer, filter: filter.replaceAll(/\bgeom\b/g, 'geometry'), expected }
}

/** In AsciiDoc, a backslash keeps the characters after it from becoming markup. */
function unescaped(cell: string): string {
  return cell.replaceAll('\\', '')
}

/**
 * Rows of the tables that are wrong, with the number of features that the predicate selects: the places of the
 * test dataset whose names begin with Ch are Chengdu, Chicago and Chișinău.
 */
const ERRATA: Record<string, number> = {
  "ACCENTI(name) LIKE accenti('Ch%')": 3,
  "ACCENTI(CASEI(name)) LIKE accenti(casei('Chiș%'))": 1,
  "ACCENTI(CASEI(name)) LIKE accenti(casei('cHis%'))": 1,
}

/** Compares the predicates with the collections of a service, which has the layers of the test dataset. */
export async function testPredicates(suite: Suite, api: Api, predicates: Predicate[]): Promise<void> {
  for (const { layer, filter, expected } of predicates) {
    await suite.test('/conf/…/test-data', `${layer}: ${filter}`, async () => {
      const query = `/collections/${layer}/items?filter=${encodeURIComponent(filter)}`
      const matched = ((await api.get(`${query}&resulttype=hits`)).body as Page).numberMatched
      const listed = await countListed(api, `${query}&limit=7`)
      const right = ERRATA[filter] ?? expected
      if (matched !== right || listed !== right) {
        throw new Error(`expected ${right}, numberMatched is ${matched}, and the pages have ${listed}`)
      }
    })
  }
}

interface Page {
  numberMatched?: number
  features?: unknown[]
  links?: { rel: string; href: string }[]
}

/** The number of features on all pages. */
async function countListed(api: Api, first: string): Promise<number> {
  let count = 0
  for (let next: string | undefined = first; next !== undefined; ) {
    const { features, links } = (await api.get(next)).body as Page
    count += features?.length ?? 0
    next = links?.find(({ rel }) => rel === 'next')?.href
  }
  return count
}
