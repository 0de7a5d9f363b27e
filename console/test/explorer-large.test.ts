import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { promisify } from 'node:util'
import { demoDatasets, placesRows } from '@wayleave/demo/demo-datasets.ts'
import { decodeTile } from '@wayleave/geodata/testing'
import type { Page } from 'playwright-core'
import { testedProgramArguments } from '../../scripts/program/tested-program.ts'
import { needs } from '../../scripts/test-run/needs.ts'
import { count } from '../src/words.ts'
import { explorerFlow, openExplorer, type TestExplorer } from './explorer-fixture.ts'

needs('chromium', 'processes')

/** More rows than every limit from which a compiled dataset is handled in another way, such as by a second thread. */
const READINGS = 250_000
const KINDS = ['air', 'rain', 'wind', 'snow']

/** Two large datasets: 171,075 real places with tiles, and 250,000 generated rows. Both are compiled once. */
describe('the explorer on large datasets', { concurrency: 1 }, () => {
  let explorer: TestExplorer
  let page: Page
  let key = ''
  const places = placesRows()
  const readings = makeReadings()

  before(async () => {
    // Building deep tiles would take most of the time, and shows the same counts.
    explorer = await openExplorer({ WAYLEAVE_TILE_MAX_ZOOM: '5' })
    page = explorer.page
    const { dataDir } = explorer.service
    // Not execFileSync: connections that the server closes meanwhile would be used again.
    const command = async (...args: string[]) => {
      const all = [...testedProgramArguments(), ...args, '--json', '--data-dir', dataDir]
      return JSON.parse((await promisify(execFile)(process.execPath, all)).stdout)
    }
    const source = join(dataDir, 'places.json')
    await demoDatasets.find(({ table }) => table === 'places')!.write(source)
    await command('publish', source, '--table', 'places')
    const rows = join(dataDir, 'readings.csv')
    writeFileSync(rows, readings.csv)
    await command('publish', rows, '--table', 'readings', '--no-tiles')
    const created = await command('key', 'create', '--platform', '--name', 'test', '--permissions', 'read')
    key = created.secret
    await explorer.tilesReady('places')
  })
  after(async () => {
    await explorer.close()
    assert.deepEqual(explorer.service.faults, [])
  })

  const get = async (path: string, query: Record<string, string>) => {
    const url = `${explorer.service.url}/v1/ogc/collections${path}?${new URLSearchParams(query)}`
    const response = await fetch(url, { headers: { 'x-api-key': key } })
    assert.ok(response.ok, url)
    return response
  }
  const flow = (name: string, act: () => Promise<void>) => explorerFlow(name, () => explorer, act)
  const countBy = <T>(rows: Iterable<T>, keyOf: (row: T) => string) => {
    const counts = new Map<string, number>()
    for (const row of rows) counts.set(keyOf(row), (counts.get(keyOf(row)) ?? 0) + 1)
    return counts
  }

  flow('171,075 places: counts, facets and the map’s circles are those of the source', async () => {
    assert.equal(places.length, 171_075)
    await explorer.open('places')
    await page.getByText('171,075 features in view', { exact: true }).waitFor()
    const countries = countBy(places, ({ country }) => country!)
    const facet = explorer.facet('country')
    await facet.locator('.facet-value').first().waitFor()
    for (const row of (await facet.locator('.facet-value').all()).slice(0, 20)) {
      const name = (await row.locator('.facet-label').textContent())!
      assert.equal(await row.locator('.facet-count').textContent(), count(countries.get(name)!), name)
    }
    const france = facet.locator('.facet-value', { has: page.getByText('FR', { exact: true }) })
    await france.getByRole('checkbox').check()
    await page.locator('.filter-count', { hasText: `${count(countries.get('FR')!)} of 171,075` }).waitFor()

    // The sum of all circles of a zoom is the number of features, filtered and unfiltered.
    for (const [filter, expected] of [
      ['', places.length],
      ["country = 'FR'", countries.get('FR')!],
    ] as const) {
      assert.equal(await countInTiles(2, filter), expected, filter)
    }
  })

  flow('250,000 rows: counts, facets, histograms and charts are those of the source', async () => {
    const { kinds, values, csv } = readings
    assert.equal(csv.length > 0, true)
    const filter = "kind IN ('rain', 'snow') AND value >= 250"
    const isMatch = (i: number) => (kinds[i] === 1 || kinds[i] === 3) && values[i]! >= 250
    const byKind = new Map<string, number>()
    const bins = new Array<number>(10).fill(0)
    let matched = 0
    for (let i = 0; i < READINGS; i++) {
      if (!isMatch(i)) continue
      matched++
      byKind.set(KINDS[kinds[i]!]!, (byKind.get(KINDS[kinds[i]!]!) ?? 0) + 1)
    }
    const hits = await (await get('/readings/items', { resulttype: 'hits', filter })).json()
    assert.equal(hits.numberMatched, matched)
    const { facets } = await (
      await get('/readings/facets', { columns: 'kind,value', bins: '10', filter })
    ).json()
    assert.deepEqual(
      new Map(facets.kind.values.map((each: { value: string; count: number }) => [each.value, each.count])),
      byKind,
    )
    const { histogram } = facets.value as { histogram: { from: number; to: number; count: number }[] }
    for (let i = 0; i < READINGS; i++) {
      if (!isMatch(i)) continue
      const at = histogram.findIndex(
        ({ from, to }, bin) => values[i]! >= from && (values[i]! < to || bin === 9),
      )
      bins[at]!++
    }
    assert.deepEqual(
      histogram.map((bin) => bin.count),
      bins,
    )

    await explorer.open('readings', { filter, tab: 'charts', charts: 'kind' })
    await page.locator('.filter-count', { hasText: `${count(matched)} of 250,000 rows` }).waitFor()
    const chart = page.getByRole('figure', { name: 'Rows by kind' })
    await chart.getByRole('button', { name: /^Table/ }).click()
    await chart.getByRole('rowheader', { name: 'rain' }).waitFor()
    for (const [kind, number] of byKind) {
      const bar = chart.getByRole('row').filter({ has: page.getByRole('rowheader', { name: kind }) })
      assert.equal(await bar.locator('.number').textContent(), count(number))
    }
    await page.getByText(/Only the first 2,500 are drawn: the dataset has no tiles/).waitFor()
  })

  /** Adds up what the tiles of a zoom show: features, and circles by the number they stand for. */
  const countInTiles = async (zoom: number, filter: string): Promise<number> => {
    let sum = 0
    for (let row = 0; row < 2 ** zoom; row++) {
      for (let column = 0; column < 2 ** zoom; column++) {
        const path = `/places/tiles/WebMercatorQuad/${zoom}/${row}/${column}`
        const response = await get(path, filter ? { filter } : {})
        if (response.status === 204) continue
        const features = decodeTile(new Uint8Array(await response.arrayBuffer()), zoom, column, row)
        for (const { properties } of features) sum += Number(properties['point_count'] ?? 1)
      }
    }
    return sum
  }
})

/** Seeded rows as CSV, and their values to count by brute force. */
function makeReadings() {
  let seed = 11
  const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return seed / 2 ** 32
  }
  const kinds = new Uint8Array(READINGS)
  const values = new Float64Array(READINGS)
  const lines = ['number,kind,value,longitude,latitude']
  for (let i = 0; i < READINGS; i++) {
    kinds[i] = Math.floor(random() ** 2 * KINDS.length)
    values[i] = Math.round(random() * 1e5) / 100
    const [x, y] = [random() * 340 - 170, random() * 160 - 80]
    lines.push(`${i},${KINDS[kinds[i]!]},${values[i]},${x.toFixed(4)},${y.toFixed(4)}`)
  }
  return { kinds, values, csv: lines.join('\n') }
}
