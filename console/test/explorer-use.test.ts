import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { needs } from '../../scripts/test-run/needs.ts'
import { count } from '../src/words.ts'
import { explorerFlow, openExplorer, type TestExplorer } from './explorer-fixture.ts'
import { Keyboard } from './keyboard.ts'
import type { TestBasemap } from './test-basemap.ts'
import { drawMaps, poll } from './test-page-actions.ts'

needs('chromium', 'processes', 'tools')

const LENGTH = 'length, in km'
const trails = Array.from({ length: 40 }, (_, index) => ({
  name: `Trail ${index}`,
  surface: ['gravel', 'grass', 'stone'][index % 3]!,
  [LENGTH]: index % 5,
}))
const isGravel = ({ surface }: { surface: unknown }) => surface === 'gravel'
const trailsGeojson = JSON.stringify({
  type: 'FeatureCollection',
  features: trails.map((properties, index) => ({
    type: 'Feature',
    id: index,
    properties,
    geometry: {
      type: 'LineString',
      coordinates: [
        [5 + index * 0.01, 52],
        [5 + index * 0.01, 52.3],
      ],
    },
  })),
})
const DESCRIPTION = `## Trails\n\nAll **marked** trails, see [the map](https://example.org/map).\n\n- <script>alert(1)</script>\n- [never](javascript:alert(1))`

/** Files, code, frames, metadata, the operator's basemap, and the keyboard alone. */
describe('using what the explorer shows', { concurrency: 1 }, () => {
  let explorer: TestExplorer
  let page: Page
  let basemap: TestBasemap

  before(async () => {
    explorer = await openExplorer({ WAYLEAVE_NEW_ORGANIZATION_ADD_ONS: 'GIS_ACCESS' })
    ;({ page, basemap } = explorer)
    await explorer.publish('trails', 'trails.geojson', trailsGeojson, {
      ...{ note: 'First survey', credits: '2', extractPrice: 'free' },
    })
    await explorer.send('PATCH', '/v1/dataset/trails', {
      description: DESCRIPTION,
      license: 'CC-BY-4.0',
      contact: 'trails@example.org',
      citation: 'Trails (2026)',
      updateFrequency: 'annual',
      columns: { [LENGTH]: { title: 'Length', unit: 'km', description: 'Along the ground.' } },
    })
    await explorer.tilesReady('trails')
  })
  after(async () => {
    await explorer.close()
    assert.deepEqual(explorer.service.faults, [], 'no page broke, and none broke the Content-Security-Policy')
  })
  const flow = (name: string, act: () => Promise<void>) => explorerFlow(name, () => explorer, act)

  flow('check boxes that are clicked quickly do not jump back while the address follows', async () => {
    await explorer.openWithoutMap('trails')
    await explorer.facet('surface').getByText('gravel').waitFor()
    const jumps = await page.evaluate(async () => {
      const [first, second] = document.querySelectorAll<HTMLInputElement>('.facet-values input')
      const jumps: string[] = []
      // The router applies the first change sometime after it: before, between or after the second.
      for (let delay = 0; delay < 30; delay++) {
        const isChecked = delay % 2 === 0
        first!.click()
        await new Promise((resolve) => setTimeout(resolve, delay))
        second!.click()
        const end = performance.now() + 100
        while (performance.now() < end) {
          if (second!.checked !== isChecked) jumps.push(`${delay} ms`)
          await new Promise((resolve) => setTimeout(resolve))
        }
      }
      return [...new Set(jumps)]
    })
    assert.deepEqual(jumps, [])
  })

  flow('lines are drawn from tiles and selected; the background is the operator’s', async () => {
    const ownBackground: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/world-')) ownBackground.push(request.url())
    })
    await explorer.open('trails', { view: '5.2,52.15,10' })
    await page.getByText('40 features in view', { exact: true }).waitFor()
    await poll(async () => basemap.requests.includes('/land.json'))
    assert.ok(basemap.requests.includes('/style.json'))
    assert.deepEqual(ownBackground, [], 'the service’s own background is not loaded in vain')
    await page.locator('.map').evaluate((map) => map.scrollIntoView({ block: 'center' }))
    const map = (await page.locator('.map').boundingBox())!
    const attributes = page.getByRole('region', { name: 'Attributes' })
    await poll(async () => {
      await page.mouse.click(map.x + map.width / 2, map.y + map.height / 2)
      return attributes.isVisible()
    })
    await attributes.getByText('Trail 20', { exact: true }).first().waitFor()
  })

  flow('a PMTiles file of the operator is read in ranges and drawn as the background', async () => {
    // The tiles of the dataset itself are as good a file as any.
    const [file] = globSync('**/tiles.pmtiles', { cwd: explorer.service.dataDir })
    basemap.archive = await readFile(join(explorer.service.dataDir, file!))
    const other = await page.context().newPage()
    await drawMaps(other)
    const warnings: string[] = []
    other.on('console', (message) => {
      if (!message.text().includes('GL Driver Message')) warnings.push(message.text())
    })
    // One server has one basemap, so the address of the other one is put into the page while it is read.
    await other.addInitScript(() => {
      new MutationObserver(() => {
        const element = document.getElementById('console-settings')
        const text = element?.textContent ?? ''
        if (text.includes('/style.json'))
          element!.textContent = text.replace('/style.json', '/planet.pmtiles')
      }).observe(document, { childList: true, subtree: true })
    })
    await other.goto(`${explorer.service.url}/datasets/trails?view=5.2,52.15,10`)
    await other.getByText('40 features in view', { exact: true }).waitFor()
    // The first range is the header and the directory; tiles come after it.
    await poll(async () => basemap.ranges.some((range) => !range.startsWith('bytes=0-')))
    assert.deepEqual(warnings, [])
    await other.close()
  })

  flow('a column whose name has a comma has a facet, a chart, an order and colors', async () => {
    await explorer.openWithoutMap('trails', { color: LENGTH })
    await page.getByRole('region', { name: `Legend: ${LENGTH}` }).waitFor()
    const facet = explorer.facet(LENGTH)
    await facet.locator('.facet-value').first().waitFor()
    await facet.getByText('km', { exact: true }).waitFor()
    assert.equal(await facet.locator('.facet-value').count(), 5)
    const three = facet.locator('.facet-value', { has: page.getByText('3', { exact: true }) })
    await three.getByRole('checkbox').check()
    await page.locator('.filter-count', { hasText: '8 of 40 rows' }).waitFor()
    await page.getByRole('button', { name: LENGTH, exact: true }).click()
    await page.locator('.rows tbody tr[data-index="7"]').waitFor()
    assert.equal(explorer.parameter('sort'), LENGTH)
    await page.getByRole('tab', { name: 'Charts' }).click()
    const charts = page.getByRole('img', { name: `Rows by ${LENGTH}` })
    await poll(async () => (await charts.count()) === 1)
    // A second chart of the column, to be changed beside the one that is shown unasked.
    await page.getByLabel('Add a chart of').selectOption(LENGTH)
    await poll(async () => (await charts.count()) === 2)
  })

  flow('the filtered rows are downloaded as CSV, GeoJSON and GeoParquet, free of charge', async () => {
    await explorer.openWithoutMap('trails', { filter: "surface = 'gravel'", tab: 'download' })
    const names = trails.filter(isGravel).map(({ name }) => name)
    await page.getByText(`${count(names.length)} rows that match the filter`).waitFor()
    const download = async (format: string) => {
      const begun = page.waitForEvent('download')
      await page.getByRole('button', { name: `Download ${format} of the filtered rows` }).click()
      const file = await begun
      return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) }
    }
    const csv = await download('CSV')
    assert.equal(csv.name, 'trails-filtered.csv')
    const lines = csv.bytes.toString().trim().split('\r\n').slice(1)
    assert.deepEqual(
      lines.map((line) => line.split(',').find((cell) => cell.startsWith('Trail'))).sort(),
      names.sort(),
    )
    const { features } = JSON.parse((await download('GeoJSON')).bytes.toString())
    assert.equal(features.length, names.length)
    const parquet = await download('GeoParquet')
    assert.equal(parquet.name, 'trails-filtered.parquet')
    assert.equal(parquet.bytes.toString('latin1', 0, 4), 'PAR1')
    assert.equal(parquet.bytes.toString('latin1', parquet.bytes.length - 4), 'PAR1')
    assert.ok(await page.getByText(/has 100 credits/).isVisible())
  })

  flow('a download shows its size, and that it is paid', async () => {
    await explorer.openWithoutMap('trails', { tab: 'download' })
    const row = page.locator('.downloads li', { hasText: 'GeoPackage' })
    const begun = page.waitForEvent('download')
    await row.getByRole('button').click()
    await begun
    await row.getByText('Already paid').waitFor()
    await row
      .getByText(/\d [KM]B/)
      .first()
      .waitFor()
    await page.getByText(/has 98 credits/).waitFor()
  })

  flow('the description is safe Markdown; licence, contact, citation and columns are shown', async () => {
    await explorer.openWithoutMap('trails', { tab: 'columns' })
    await page.getByRole('heading', { name: 'Trails', level: 4 }).waitFor()
    assert.equal(
      await page.getByRole('link', { name: 'the map' }).getAttribute('href'),
      'https://example.org/map',
    )
    await page.getByText('<script>alert(1)</script>').waitFor()
    assert.equal(await page.getByRole('link', { name: 'never' }).count(), 0)
    const facts = page.getByRole('region', { name: 'Facts' })
    const terms = page.getByRole('region', { name: 'License, source and version' })
    const license = terms.getByRole('link', { name: /Creative Commons Attribution 4.0/ })
    assert.equal(await license.getAttribute('href'), 'https://spdx.org/licenses/CC-BY-4.0.html')
    assert.equal(
      await facts.getByRole('link', { name: 'trails@example.org' }).getAttribute('href'),
      'mailto:trails@example.org',
    )
    await terms.getByText('Trails (2026)').waitFor()
    await facts.getByText('Every year').waitFor()
    for (const name of ['Edit', 'Usage', 'New version']) await page.getByText(name, { exact: true }).waitFor()
    assert.equal(
      await page.getByRole('link', { name: 'New version' }).getAttribute('href'),
      '/administration/publish?table=trails',
    )
    const column = page.getByRole('row', { name: new RegExp(LENGTH) })
    await column.getByText('Along the ground.').waitFor()
    await column.getByRole('cell', { name: 'km', exact: true }).waitFor()
  })

  flow('versions have the time of day, a note and what changed in counts', async () => {
    const fewer = JSON.parse(trailsGeojson)
    fewer.features = fewer.features.slice(0, 33).map((feature: { properties: object }) => {
      return { ...feature, properties: { ...feature.properties, grade: 'T1' } }
    })
    await explorer.publish('trails', 'trails.geojson', JSON.stringify(fewer), { note: 'Grades added' })
    await explorer.openWithoutMap('trails', { tab: 'versions' })
    const [second, first] = [page.getByRole('row', { name: /^2 / }), page.getByRole('row', { name: /^1 / })]
    await second.getByText('Grades added').waitFor()
    await second.getByText('−7 rows, 1 new column').waitFor()
    await second.getByText(/\d\d:\d\d UTC/).waitFor()
    await first.getByText('First survey').waitFor()
  })

  flow('code for this view has the filter, and a frame shows the sample on another site', async () => {
    await explorer.tilesReady('trails')
    await explorer.openWithoutMap('trails', { filter: "surface = 'gravel'", tab: 'code' })
    for (const name of ['curl', 'Python', 'JavaScript', 'R', 'DuckDB', 'QGIS', 'GDAL']) {
      await page.getByRole('tab', { name, exact: true }).click()
      const code = decodeURIComponent((await page.locator('.code pre').last().textContent())!)
      assert.match(code, /surface = '(?:\\'')?'?gravel/, name)
    }
    await page.getByRole('tab', { name: 'Embed' }).click()
    await page.getByText('Create a key for this').waitFor({ state: 'hidden' })
    const frame = (await page.locator('.code pre').last().textContent())!
    const { page: other, context } = await explorer.service.open({ hasMaps: true })
    // Another origin than the service's.
    await other.goto(basemap.origin)
    await other.setContent(
      `${frame}<iframe src="${explorer.service.url}/datasets/trails" name="whole"></iframe>`,
    )
    const embedded = other.frameLocator('iframe').first()
    await embedded.getByText(/The sample, 3 features of 33/).waitFor()
    await embedded.getByRole('link', { name: 'Trails' }).waitFor()
    const calls: string[] = []
    other.on('request', (request) => calls.push(request.url()))
    await other.reload()
    assert.deepEqual(
      calls.filter((url) => url.includes('/v1/auth')),
      [],
    )
    await context.close()
    // No other page of the service can be framed.
    const [violation, ...others] = explorer.service.faults.splice(0)
    assert.match(violation ?? '', /frame-ancestors 'none'/)
    assert.deepEqual(
      others.filter((fault) => fault !== violation),
      [],
    )
  })

  flow('the filter stays beside the rows, and does not cover what is below them', async () => {
    await explorer.openWithoutMap('trails', { tab: 'code' })
    await page.setViewportSize({ width: 1280, height: 500 })
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
    const box = async (selector: string) => (await page.locator(selector).boundingBox())!
    const [filter, facts] = [await box('.explorer-filter > details'), await box('.dataset-facts')]
    assert.ok(filter.height > 100 && filter.y + filter.height <= facts.y, JSON.stringify([filter, facts]))
    await page.setViewportSize({ width: 1280, height: 860 })
  })

  flow('the map fills the window beside the filter, until Escape or its button', async () => {
    const full = page.getByRole('button', { name: 'Map in the full window' })
    const map = page.getByRole('region', { name: 'Map', exact: true })
    const heightOf = async (locator: Locator) => (await locator.boundingBox())!.height
    await page.setViewportSize({ width: 1280, height: 700 })
    await explorer.openWithoutMap('trails')
    await full.waitFor()
    await page.evaluate(() => scrollTo(0, 200))
    await full.focus()
    await page.keyboard.press('Enter')
    await poll(async () => explorer.parameter('map') === 'full')
    assert.equal(await full.getAttribute('aria-pressed'), 'true')
    assert.ok((await heightOf(map)) > 500)
    assert.ok(await full.evaluate((button) => button === document.activeElement))

    // Nothing behind it is shown or reached, and the filter works.
    for (const hidden of [
      page.getByRole('banner'),
      page.getByRole('tab', { name: 'Table' }),
      page.getByRole('heading', { level: 1 }),
    ])
      assert.equal(await hidden.isVisible(), false)
    const gravel = explorer
      .facet('surface')
      .locator('.facet-value', { hasText: 'gravel' })
      .getByRole('checkbox')
    await gravel.check()
    await poll(async () => explorer.parameter('filter') !== null)
    assert.equal(explorer.parameter('map'), 'full')

    // Escape in a search belongs to the search.
    const search = page.getByRole('searchbox').first()
    if (await search.count()) {
      await search.press('Escape')
      assert.equal(explorer.parameter('map'), 'full')
    }
    await gravel.press('Escape')
    await poll(async () => explorer.parameter('map') === null)
    await page.getByRole('banner').waitFor()
    assert.equal(await page.evaluate(() => scrollY), 200)

    // A link opens it so, also on a phone, with the selected feature; the button leaves it.
    await page.setViewportSize({ width: 375, height: 667 })
    await explorer.openWithoutMap('trails', { map: 'full', selected: '3' })
    const details = page.getByRole('region', { name: 'Attributes' })
    await details.waitFor()
    const seen = await details.boundingBox()
    assert.ok(seen!.y + seen!.height <= 667, JSON.stringify(seen))
    await page.getByText('Filter', { exact: true }).click()
    await explorer.facet('surface').waitFor()
    assert.ok((await heightOf(map)) > 150)
    assert.ok((await heightOf(page.locator('.map-canvas'))) > 150, 'the open filter leaves room for the map')
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 375)
    await full.click()
    await page.getByRole('banner').waitFor()
    assert.equal(explorer.parameter('map'), null)
    await page.setViewportSize({ width: 1280, height: 860 })
  })

  flow('sign-in, catalogue, explorer and keys work with the keyboard alone', async () => {
    const { page, context } = await explorer.service.open({
      viewport: { width: 1000, height: 640 },
      hasMaps: true,
    })
    const keyboard = new Keyboard(page)
    await page.goto(`${explorer.service.url}/datasets`)
    await keyboard.enter(page.getByRole('banner').getByRole('link', { name: 'Sign in' }))
    await keyboard.tabTo(page.getByLabel('Email address'))
    await keyboard.type('keyboard@example.org')
    await keyboard.press('Enter')
    await keyboard.tabTo(page.getByLabel('Code of six digits'))
    await keyboard.type((await explorer.service.mailedLink('keyboard@example.org')).code)
    await keyboard.press('Enter')

    await keyboard.tabTo(page.getByLabel(/^Lines/))
    await keyboard.press('Space')
    await page.waitForURL(/kind=Lines/)
    await keyboard.enter(page.getByRole('main').getByRole('link', { name: 'Trails' }))

    await page.getByText(/^\d+ features in view$/).waitFor()
    await keyboard.tabTo(explorer.facet('surface', page).getByRole('checkbox').first())
    await keyboard.press('Space')
    await page.locator('.filter-count', { hasText: /^\d+ of \d+ rows$/ }).waitFor()
    await keyboard.tabTo(page.getByRole('link', { name: 'Skip the filters' }), 'Shift+Tab')
    await keyboard.press('Enter')
    await keyboard.press('Tab')
    assert.ok(await page.locator('.explorer-main :focus').count(), 'the filters are skipped')
    await keyboard.tabTo(page.locator('.map canvas'))
    const zoom = () => Number(new URL(page.url()).searchParams.get('view')?.split(',')[2])
    const before = zoom()
    await keyboard.press('+')
    await poll(async () => zoom() > before)
    await keyboard.tabTo(page.getByRole('tab', { name: 'Table' }))
    await keyboard.press('ArrowRight')
    await page.getByText('Add a chart of').waitFor()
    await keyboard.press('ArrowLeft')
    await keyboard.tabTo(page.locator('.rows tbody tr[data-index="0"]'))
    await keyboard.press('ArrowDown')
    await keyboard.press('Enter')
    await page.getByRole('region', { name: 'Attributes' }).waitFor()

    await keyboard.tabTo(page.getByRole('banner').getByRole('link', { name: 'Keys' }), 'Shift+Tab')
    await keyboard.press('Enter')
    await keyboard.enter(page.getByRole('button', { name: 'Create a personal key' }))
    await keyboard.tabTo(page.getByLabel('Name'))
    await keyboard.type('By hand')
    await keyboard.enter(page.getByRole('button', { name: 'Create the key' }))
    await keyboard.tabTo(page.getByLabel('I have stored the secret'))
    await keyboard.press('Space')
    const key = page.getByRole('link', { name: 'By hand' })
    await key.waitFor({ state: 'attached' })
    await keyboard.enter(page.getByRole('button', { name: 'Done' }))

    // The focus goes where the user continues: to the new key, to what has changed, to what is left.
    const hasFocus = (target: Locator) =>
      poll(() => target.evaluate((element) => element === document.activeElement))
    await hasFocus(key)
    await keyboard.press('Enter')
    await keyboard.enter(page.getByRole('button', { name: 'Revoke' }))
    await keyboard.enter(page.getByRole('button', { name: 'Revoke for good' }))
    await hasFocus(page.getByRole('heading', { name: 'By hand', exact: true }))
    await keyboard.enter(page.getByRole('button', { name: 'Delete', exact: true }))
    await keyboard.enter(page.getByRole('button', { name: 'Delete the key' }))
    await page.getByText('No keys yet').first().waitFor()
    await poll(async () => (await page.locator('main:focus, main :focus').count()) === 1)
    await context.close()
  })
})
