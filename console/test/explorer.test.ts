import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Page } from 'playwright-core'
import { needs } from '../../scripts/test-run/needs.ts'
import { count } from '../src/words.ts'
import { chartFlows } from './chart-flows.ts'
import { check } from './check-accessibility.ts'
import { explorerFlow, openExplorer, type TestExplorer } from './explorer-fixture.ts'
import { mapFlows } from './map-flows.ts'
import { makeSensors, type Sensor, sensorsGeojson } from './sensors.ts'
import { poll } from './test-page-actions.ts'

needs('chromium', 'processes')

const sensors = makeSensors(3000)

/** The explorer in a real browser. What it shows is compared with the source by brute force. */
describe('the explorer', { concurrency: 1 }, () => {
  let explorer: TestExplorer
  let page: Page

  before(async () => {
    explorer = await openExplorer()
    page = explorer.page
    await explorer.publish('sensors', 'sensors.geojson', sensorsGeojson(sensors))
    const codes = sensors.map(({ id, kind }) => `${id},${kind ?? ''}`)
    await explorer.publish('codes', 'codes.csv', `code,word\n${codes.join('\n')}`)
    await explorer.tilesReady('sensors')
  })
  after(async () => {
    await explorer.close()
    assert.deepEqual(explorer.service.faults, [], 'no page broke, and none broke the Content-Security-Policy')
  })

  const flow = (name: string, act: () => Promise<void>) => explorerFlow(name, () => explorer, act)
  const open = (query: Record<string, string> = {}) => explorer.open('sensors', query)
  const openWithoutMap = (query: Record<string, string> = {}) => explorer.openWithoutMap('sensors', query)
  const matched = (rows: number) =>
    page.locator('.filter-count', { hasText: `${count(rows)} of 3,000 rows` }).waitFor()
  const parameter = (name: string) => explorer.parameter(name)
  const facet = (column: string) => explorer.facet(column)
  /** The values of a facet and their counts, as the page shows them. */
  const facetCounts = async (column: string) => {
    const rows = await facet(column).locator('.facet-value').all()
    const pairs = rows.map(async (row) => [
      await row.locator('.facet-label').textContent(),
      await row.locator('.facet-count').textContent(),
    ])
    return Object.fromEntries(await Promise.all(pairs))
  }
  const countsBy = (rows: Sensor[]) => {
    const counts: Record<string, string> = {}
    for (const kind of new Set(sensors.map((sensor) => sensor.kind))) {
      const number = rows.filter((row) => row.kind === kind).length
      if (number > 0) counts[kind ?? '(no value)'] = count(number)
    }
    return counts
  }

  /** The sensors in the view that the page's address has. */
  const sensorsInView = async () => {
    const { width, height } = (await page.locator('.map canvas').first().boundingBox())!
    const [longitude, latitude, zoom] = parameter('view')!.split(',').map(Number) as [number, number, number]
    const world = 512 * 2 ** zoom
    const y = (degrees: number) => Math.log(Math.tan(Math.PI / 4 + (degrees * Math.PI) / 360)) / (2 * Math.PI)
    return sensors.filter(
      (sensor) =>
        (Math.abs(sensor.longitude - longitude) / 360) * world <= width / 2 &&
        Math.abs(y(sensor.latitude) - y(latitude)) * world <= height / 2,
    )
  }

  flow('the status line counts exactly what is in the map’s view', async () => {
    await open()
    await page.getByText('3,000 features in view', { exact: true }).waitFor()
    await open({ view: '6,48,5' })
    await page.getByText(/[\d,]+ features? in view/).waitFor()
    const inView = await sensorsInView()
    assert.ok(inView.length > 100 && inView.length < 2900)
    await page.getByText(`${count(inView.length)} features in view`, { exact: true }).waitFor()
  })

  flow('check boxes, a range, a search and an edited filter select what they say, everywhere', async () => {
    await open()
    await facet('kind').getByText("river's").waitFor()
    assert.deepEqual(await facetCounts('kind'), countsBy(sensors))
    await facet('kind').getByLabel("river's").check()
    await facet('kind').getByLabel('(no value)').check()
    const chosen = sensors.filter(({ kind }) => kind === "river's" || kind === null)
    await matched(chosen.length)
    assert.equal(parameter('filter'), "(kind = 'river''s' OR kind IS NULL)")
    // The facet still shows the values that could be added, by the filter without itself.
    assert.deepEqual(await facetCounts('kind'), countsBy(sensors))

    const tile = page.waitForRequest(
      (request) =>
        request.url().includes('/tiles/') && request.url().includes('filter=') && /value/.test(request.url()),
    )
    await page.getByLabel('value from').fill('25')
    await page.getByLabel('value from').press('Enter')
    const ranged = (rows: Sensor[]) => rows.filter(({ value }) => value !== null && value >= 25)
    await matched(ranged(chosen).length)
    await poll(async () => isDeepStrictEqual(await facetCounts('kind'), countsBy(ranged(sensors))))
    assert.match((await tile).url(), /version=1/)

    await page.getByLabel('Search all texts').fill('zurich')
    const searched = ranged(chosen).filter(({ name }) => name.includes('Zürich'))
    await matched(searched.length)
    await page.getByRole('button', { name: 'Clear', exact: true }).click()

    await page.getByRole('button', { name: 'Edit as CQL2' }).click()
    await page.getByLabel('Filter in CQL2').fill("value < 10 OR kind = 'snow'")
    await page.getByRole('button', { name: 'Apply' }).click()
    await matched(
      sensors.filter(({ value, kind }) => (value !== null && value < 10) || kind === 'snow').length,
    )

    // The map goes to the rows that match: here those of one town.
    const town = sensors.filter(({ id }) => id % 9 === 1)
    const zoom = page.getByRole('button', { name: 'Zoom to the matches', exact: true })
    await page.getByLabel('Filter in CQL2').fill('value > 1000')
    await page.getByRole('button', { name: 'Apply' }).click()
    await matched(0)
    assert.equal(await zoom.count(), 0, 'there is nothing to zoom to')
    await page.getByLabel('Filter in CQL2').fill('id % 9 = 1')
    await page.getByRole('button', { name: 'Apply' }).click()
    await matched(town.length)
    await zoom.press('Enter')
    await poll(async () => {
      const inView = await sensorsInView()
      return town.every((sensor) => inView.includes(sensor)) && inView.length < 2 * town.length
    })
    await page.getByText(`${count(town.length)} features in view`, { exact: true }).waitFor()
    await page.getByLabel('Filter in CQL2').fill('value <')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('The filter is not valid').waitFor()
    assert.ok(await page.locator('.rows tbody tr[data-index]').count(), 'the rows before stay')
  })

  flow('dragging over a histogram selects exactly the rows of its bars', async () => {
    await openWithoutMap()
    await facet('measured').locator('.facet-histogram span').first().waitFor({ state: 'attached' })
    // The mouse only reaches what is in the window.
    await facet('measured').locator('.facet-ends').scrollIntoViewIfNeeded()
    const box = (await facet('measured').locator('.facet-histogram').boundingBox())!
    await page.mouse.move(box.x + box.width * 0.26, box.y + 20)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.49, box.y + 20)
    await page.mouse.up()
    await page.getByText(/of 3,000 rows/).waitFor()
    const [, from, to] = /measured >= TIMESTAMP\('(.+?)'\) AND measured < TIMESTAMP\('(.+?)'\)/.exec(
      parameter('filter')!,
    )!
    await matched(
      sensors.filter(
        ({ measured }) => Date.parse(measured) >= Date.parse(from!) && Date.parse(measured) < Date.parse(to!),
      ).length,
    )
  })

  flow('only within the map view filters by the view', async () => {
    await open({ view: '6,48,5' })
    const status = page.locator('.map-note')
    await poll(async () => /in view/.test((await status.textContent()) ?? ''))
    const inView = Number(
      /([\d,]+) features? in view/.exec((await status.textContent())!)![1]!.replace(',', ''),
    )
    await page.getByLabel('Only within this map view').check()
    await matched(inView)
  })

  flow(
    'the table sorts, hides columns, loads all rows as it is scrolled, and works by keyboard',
    async () => {
      await openWithoutMap({ filter: 'value >= 25' })
      await page.getByRole('button', { name: 'value', exact: true }).click()
      await page.getByRole('button', { name: 'value', exact: true }).click()
      const sorted = sensors
        .map(({ value }) => value ?? 0)
        .filter((value) => value >= 25)
        .sort((a, b) => b - a)
      const cells = () => page.locator('.rows tbody tr[data-index] td:nth-child(3)').allTextContents()
      await poll(async () => Number((await cells())[0]) === sorted[0])
      assert.deepEqual((await cells()).slice(0, 20).map(Number), sorted.slice(0, 20))
      await page.locator('.rows tbody tr[data-index="0"]').focus()
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await page.getByRole('region', { name: 'Attributes' }).getByText('measured').waitFor()
      assert.equal(await page.locator('.rows tr[aria-selected=true]').getAttribute('data-index'), '2')
      await page.getByRole('button', { name: 'Close the attributes' }).click()
      // Each press of End shows the last loaded row, which loads the next page.
      await page.locator('.rows tbody tr[data-index="2"]').focus()
      await poll(async () => {
        await page.keyboard.press('End')
        return (await page.locator(`.rows tbody tr[data-index="${sorted.length - 1}"]`).count()) === 1
      })
      await page.getByText('Columns 4 of 4').click()
      await page.locator('.menu').getByLabel('measured').uncheck()
      await page.getByRole('columnheader', { name: 'measured' }).waitFor({ state: 'detached' })
      await page.reload()
      await page.getByText('Columns 3 of 4').waitFor()
      assert.equal(parameter('sort'), '-value')
    },
  )

  flow(
    'a click on the map shows a feature beside it, and marks its row; a row marks its feature',
    async () => {
      const target = sensors.find(({ id }) => id === 9)!
      await open({ view: `${target.longitude},${target.latitude},13`, filter: `id = ${target.id}` })
      await page.getByText('1 feature in view', { exact: true }).waitFor()
      const map = (await page.locator('.map').boundingBox())!
      const attributes = page.getByRole('region', { name: 'Attributes' })
      const [x, y] = [map.x + map.width / 2, map.y + map.height / 2]
      await poll(async () => {
        await page.mouse.click(x, y)
        return attributes.isVisible()
      })
      await attributes.getByText(target.name, { exact: true }).first().waitFor()
      const panel = (await attributes.boundingBox())!
      assert.ok(x < panel.x || x > panel.x + panel.width, 'the panel does not cover the feature')
      assert.ok(panel.width * panel.height < (map.width * map.height) / 4, 'nor a quarter of the map')
      const buttons = (await page.locator('.maplibregl-ctrl-top-right').boundingBox())!
      const isBeside = panel.x + panel.width <= buttons.x || panel.y >= buttons.y + buttons.height
      assert.ok(isBeside, 'nor the buttons of the map')
      await page.locator('.rows tr[aria-selected=true]').waitFor()
      assert.equal(parameter('selected'), String(target.id))
      await page.mouse.move(x + 60, y + 60)
      await poll(async () => {
        await page.mouse.move(x, y)
        await page.mouse.move(x + 1, y)
        return (await page.locator('.rows tr.pointed').count()) === 1
      })
    },
  )

  flow('the attribution of the data stays at every zoom', async () => {
    for (const zoom of [0, 3, 8, 14]) {
      await open({ view: `10,50,${zoom}`, color: 'value' })
      await page.locator('.maplibregl-ctrl-attrib', { hasText: 'Data: ' }).waitFor()
    }
  })

  flow('a selected feature that the filter excludes says so', async () => {
    await open({ selected: '9', filter: 'id = 10' })
    await page.getByText('The filter excludes this feature.').waitFor()
  })

  flow('features around the middle of the map are selected with the keyboard alone', async () => {
    const { longitude, latitude } = sensors.find(({ id }) => id === 9)!
    await open({ view: `${longitude},${latitude},9` })
    const button = page.getByRole('button', { name: 'Select an area' })
    await button.focus()
    await page.keyboard.press('Enter')
    await page.getByLabel('km around the middle').fill('50')
    await page.keyboard.press('Enter')
    await page.getByText('Within a circle').waitFor()
    assert.match(parameter('filter')!, /^S_INTERSECTS\(geometry, POLYGON\(\(/)
  })

  chartFlows(() => explorer, sensors)
  mapFlows(() => explorer, sensors)

  flow('times are readable, cells are copied, and columns are pinned and resized by keyboard', async () => {
    await openWithoutMap({ sort: 'name' })
    const [first] = sensors.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    const row = page.locator('.rows tr[data-index="0"]')
    const cell = row.locator('td', { hasText: /^\d+ \w+ 2025, 00:00$/ })
    const shown = `${Number(first!.measured.slice(8, 10))} `
    assert.ok((await cell.textContent())!.startsWith(shown))
    await cell.click()
    await row.getByRole('button', { name: 'Copy measured' }).waitFor()
    await page.keyboard.press('Control+c')
    await page.locator('.copied', { hasText: 'Copied' }).waitFor()
    const copied = () => page.evaluate(() => navigator.clipboard.readText())
    assert.equal(Date.parse(await copied()), Date.parse(first!.measured), 'the exact value')
    await page.keyboard.press('ArrowLeft')
    await row.getByRole('button', { name: 'Copy value' }).click()
    await poll(async () => (await copied()) === (first!.value === null ? '' : String(first!.value)))
    const head = page.locator('.rows thead th', { hasText: 'measured' })
    const edge = page.getByRole('separator', { name: 'Width of measured' })
    const width = Number(await edge.getAttribute('aria-valuenow'))
    await edge.press('ArrowRight')
    assert.equal(Number(await edge.getAttribute('aria-valuenow')), width + 1)
    await head.getByRole('button', { name: 'Pin measured' }).press('Enter')
    assert.match((await page.locator('.rows thead th').first().textContent())!, /measured/)
    assert.equal(await head.evaluate((element) => getComputedStyle(element).position), 'sticky')
  })

  flow(
    'a column is filtered at its head, and by the values of its cells, with the keyboard too',
    async () => {
      await openWithoutMap({ sort: 'name' })
      const head = page.locator('.rows thead th', { hasText: 'kind' })
      const button = head.getByRole('button', { name: 'Filter by kind' })
      await button.press('Enter')
      const dialog = page.getByRole('dialog', { name: 'Filter by kind' })
      const kind = sensors.find((sensor) => sensor.kind !== null)!.kind!
      await dialog.getByLabel('Search kind').waitFor()
      assert.ok(
        await dialog.evaluate((element) => element.contains(document.activeElement)),
        'focus is inside',
      )
      await check(page)
      await dialog.getByText(kind, { exact: true }).click()
      const rows = sensors.filter((sensor) => sensor.kind === kind)
      await matched(rows.length)
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      const reset = page.getByRole('button', { name: 'Filter by kind, on' })
      assert.ok(await reset.evaluate((element) => element === document.activeElement), 'focus is back')
      // The head stays where no row is left, so that its filter can be changed.
      await reset.press('Enter')
      await dialog.getByLabel('Search kind').fill('no such kind')
      await page.getByText('No row matches the filter.').waitFor()
      await dialog.getByLabel('Search kind').fill('')
      await matched(rows.length)
      await page.keyboard.press('Escape')
      // Without a row left, the table has the way back, and the focus goes where the rows are.
      await openWithoutMap({ filter: "kind = 'no such kind'" })
      await page.getByRole('button', { name: 'Clear the filter' }).press('Enter')
      await page.getByText('3,000 rows').first().waitFor()
      const focused = () => page.evaluate(() => document.activeElement?.id ?? '')
      assert.equal(await focused(), 'explorer-main')
      await openWithoutMap({ filter: 'value > 1' })
      await page.getByRole('button', { name: 'Clear', exact: true }).press('Enter')
      const isOnCount = () =>
        page.evaluate(() => document.activeElement?.classList.contains('filter-count') ?? false)
      await poll(isOnCount)
      // A cell, by its button and by the key that says the same.
      const valued = rows.filter(({ value }) => value !== null).toSorted((a, b) => a.value! - b.value!)
      await openWithoutMap({ sort: 'value', filter: 'value IS NOT NULL' })
      const first = sensors.filter(({ value }) => value !== null).toSorted((a, b) => a.value! - b.value!)[0]!
      assert.ok(valued.length > 0)
      const cell = page.locator('.rows tr[data-index="0"] td', { hasText: new RegExp(`^${first.value}$`) })
      await cell.click()
      await cell.getByRole('button', { name: `Only rows with value: ${first.value}` }).click()
      const same = sensors.filter(({ value }) => value === first.value)
      await matched(same.length)
      await page.locator('.rows tr[data-index="0"]').press('f')
      await matched(sensors.filter(({ value }) => value !== null).length)
    },
  )

  const short = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 })
  /** The five classes of equal counts of the values of rows, as the legend shows them. */
  const classesOf = (rows: readonly Sensor[]) => {
    const values = rows.map(({ value }) => value).filter((value) => value !== null)
    values.sort((a, b) => a - b)
    const edges = [0, 0.2, 0.4, 0.6, 0.8].map((share) => {
      const at = (values.length - 1) * share
      const [low, high] = [values[Math.floor(at)]!, values[Math.ceil(at)]!]
      return low + (high - low) * (at - Math.floor(at))
    })
    return edges.map((from, i) => {
      const to = edges[i + 1] ?? Infinity
      const count = values.filter((value) => value >= from && value < to).length
      return `${short.format(from)} – ${short.format(edges[i + 1] ?? values.at(-1)!)}${numberWords(count)}`
    })
  }
  const numberWords = (count: number) => count.toLocaleString('en')
  const legend = (column: string) => page.getByRole('region', { name: `Legend: ${column}` })
  const legendOf = async (column: string, ...expected: string[]) => {
    await legend(column).getByRole('listitem').filter({ hasText: expected[0]! }).first().waitFor()
    assert.deepEqual(await legend(column).getByRole('listitem').allTextContents(), expected)
  }

  const nulls = `no value${numberWords(sensors.filter(({ value }) => value === null).length)}`

  flow('colors by a column have a legend with quantiles and the rows of each class', async () => {
    await openWithoutMap({ color: 'value' })
    await legendOf('value', ...classesOf(sensors), nulls)
    assert.equal(await legend('value').getByText('circle').count(), 0, 'no circle is in view')
    assert.equal(await page.getByText('of all rows').count(), 0, 'without a filter there is one choice')
  })

  flow('with a filter the legend has the classes of the filtered rows, or of all if asked', async () => {
    const kind = sensors.find((sensor) => sensor.kind !== null)!.kind!
    const rows = sensors.filter(
      (sensor) => sensor.kind === kind && sensor.value !== null && sensor.value >= 50,
    )
    const filter = `kind = '${kind.replace("'", "''")}' AND value >= 50`
    assert.notDeepEqual(classesOf(rows), classesOf(sensors))
    await openWithoutMap({ color: 'value', filter })
    await matched(rows.length)
    await legendOf('value', ...classesOf(rows))
    await legend('value').getByText('Classes of the filtered rows.').waitFor()
    await legend('value').getByRole('button', { name: 'Use all rows' }).click()
    await legendOf('value', ...classesOf(sensors), nulls)
    await legend('value').getByText('Classes of all rows.').waitFor()
    assert.equal(parameter('classes'), 'all')
    await legend('value').getByRole('button', { name: 'Use the filtered rows' }).click()
    await legendOf('value', ...classesOf(rows))
  })

  flow(
    'a click on an entry of the legend filters by it; the others stay, and a second click ends it',
    async () => {
      const kind = sensors.find((sensor) => sensor.kind !== null)!.kind!
      const rows = sensors.filter((sensor) => sensor.kind === kind)
      await open({ color: 'kind' })
      const entry = legend('kind').getByRole('button', { name: kind })
      await entry.waitFor()
      const entries = await legend('kind').getByRole('listitem').allTextContents()
      await entry.click()
      await matched(rows.length)
      assert.equal(parameter('filter'), `kind = '${kind.replace("'", "''")}'`)
      assert.equal(await entry.getAttribute('aria-pressed'), 'true')
      assert.deepEqual(await legend('kind').getByRole('listitem').allTextContents(), entries)
      assert.equal(
        await page.getByText('Values of').count(),
        0,
        'the values are those of all rows either way',
      )
      await entry.click()
      await page.locator('.filter-count', { hasText: /^3,000 rows$/ }).waitFor()
    },
  )

  flow('a page opened with an invalid filter says so once, and shows all rows', async () => {
    await open({ filter: 'missing > 3' })
    await page.getByText('The filter is not valid: all rows are shown').waitFor()
    await page.getByText('3,000 features in view', { exact: true }).waitFor()
    await page.getByText('3,000 rows', { exact: true }).waitFor()
    assert.equal(await page.getByText(/property missing/).count(), 1)
    assert.equal(await page.getByText('Counting').count(), 0)
  })

  flow('a table without geometry has no map, and its rows can be filtered', async () => {
    await explorer.open('codes')
    await facet('word').getByLabel('wind').check()
    await matched(sensors.filter(({ kind }) => kind === 'wind').length)
    assert.equal(await page.locator('.map').count(), 0)
    assert.equal(await page.getByRole('button', { name: 'Zoom to the matches' }).count(), 0)
  })

  flow('without a session the sample and the statistics are shown', async () => {
    const { page: stranger, context } = await explorer.service.open({ hasMaps: true })
    await stranger.goto(`${explorer.service.url}/datasets/sensors`)
    await stranger.getByText(/The sample, 100 features. Sign in to see all./).waitFor()
    await stranger.getByText('You see a free sample. Sign in to see, filter and chart all').waitFor()
    await stranger.getByText('The free sample', { exact: true }).waitFor()
    assert.ok(await stranger.getByLabel('Only within this map view').isDisabled())
    await context.close()
  })
})
