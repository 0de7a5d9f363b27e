import assert from 'node:assert/strict'
import { count } from '../src/words.ts'
import { explorerFlow, type TestExplorer } from './explorer-fixture.ts'
import type { Sensor } from './sensors.ts'
import { poll } from './test-page-actions.ts'

/** How the map is drawn: heat map, hexagons, own breaks and colors, the time slider. */
export function mapFlows(explorerOf: () => TestExplorer, sensors: readonly Sensor[]): void {
  const flow = (name: string, act: () => Promise<void>) => explorerFlow(name, explorerOf, act)
  const open = (query: Record<string, string>) => explorerOf().open('sensors', query)
  const parameter = (name: string) => explorerOf().parameter(name)
  const matched = (rows: number) =>
    explorerOf()
      .page.locator('.filter-count', { hasText: `${count(rows)} of 3,000 rows` })
      .waitFor()
  const legend = (column: string) => explorerOf().page.getByRole('region', { name: `Legend: ${column}` })
  const openStyle = () => explorerOf().page.getByRole('button', { name: 'Style', exact: true }).click()
  /** The map as it is drawn once nothing of it is loading. */
  const drawnMap = async () => {
    const { page } = explorerOf()
    await page.locator('.map[aria-busy=false]').waitFor()
    return page.locator('.map canvas').first().screenshot()
  }

  flow('a heat map and hexagons replace the features, and the address has them', async () => {
    const { page } = explorerOf()
    await open({ view: '6,48,4' })
    await page.getByText(/features in view/).waitFor()
    const features = await drawnMap()
    await openStyle()
    await page.getByLabel('Draw').selectOption('heat map')
    assert.equal(parameter('draw'), 'heat')
    await poll(async () => !(await drawnMap()).equals(features))
    await legend('density').waitFor()
    // What a heat map does not show cannot be chosen.
    for (const label of ['Color by', 'Size by', 'Colors', 'Sizes'])
      assert.equal(await page.getByLabel(label, { exact: true }).count(), 0, label)

    const answer = page.waitForResponse((response) => /aggregate\?.*h3/.test(response.url()))
    await page.getByLabel('Draw').selectOption('hexagons')
    const { features: cells } = await (await answer).json()
    assert.equal(parameter('draw'), 'hexagons')
    const shown = /([\d,]+) features in view/.exec((await page.locator('.map-note').textContent())!)![1]
    const counts: number[] = cells.map(
      ({ properties }: { properties: { count: number } }) => properties.count,
    )
    assert.equal(count(counts.reduce((sum, one) => sum + one, 0)), shown)
    const [first] = await legend('count').getByRole('listitem').allTextContents()
    assert.ok(first!.startsWith(count(Math.min(...counts))), `${first}`)
    const choices = await page.getByLabel('Color by').locator('option').allTextContents()
    assert.equal(choices[0], 'number of features')
    assert.ok(choices.includes('value') && !choices.includes('kind'), 'hexagons show the mean of numbers')
  })

  flow('a map has colors from the start, and none is a choice', async () => {
    const { page } = explorerOf()
    await explorerOf().openWithoutMap('sensors', { tab: 'code' })
    const shown = page.getByRole('region', { name: /^Legend: / }).first()
    await shown.waitFor()
    const column = (await shown.getAttribute('aria-label'))!.replace('Legend: ', '')
    assert.equal(await page.getByLabel('Color by').inputValue(), column)
    assert.equal(parameter('color'), null, 'the page has chosen')
    await page.getByLabel('Color by').selectOption('nothing')
    await shown.waitFor({ state: 'detached' })
    assert.equal(parameter('color'), '')
    await page.reload()
    await page.getByLabel('Color by').waitFor()
    assert.equal(await page.getByLabel('Color by').inputValue(), '')
  })

  flow('classes begin where the user says, with the rows of each', async () => {
    const { page } = explorerOf()
    await explorerOf().openWithoutMap('sensors', { color: 'value' })
    await openStyle()
    await page.getByLabel('Colors', { exact: true }).selectOption('own breaks')
    await page.getByLabel('Colors begin at').fill('10, 25')
    await poll(async () => parameter('classing') === '10,25')
    const rows = (from: number, to: number) =>
      count(sensors.filter(({ value }) => value !== null && value >= from && value < to).length)
    const values = sensors.map(({ value }) => value).filter((value) => value !== null)
    const [min, max] = [Math.min(...values), Math.max(...values)]
    const expected = [`${min} – 10${rows(min, 10)}`, `10 – 25${rows(10, 25)}`, `25 – ${max}${rows(25, 1e9)}`]
    await poll(async () => {
      const shown = await legend('value').getByRole('listitem').allTextContents()
      return shown.slice(0, 3).join() === expected.join()
    })
    await page.getByLabel('Colors begin at').fill('25, 10')
    assert.equal(await page.getByLabel('Colors begin at').getAttribute('aria-invalid'), 'true')
    assert.equal(parameter('classing'), '10,25', 'the classes before stay')

    const first = legend('value').getByRole('listitem').first().locator('circle')
    const color = await first.getAttribute('fill')
    await page.getByRole('radio', { name: 'viridis' }).press(' ')
    await poll(async () => (await first.getAttribute('fill')) !== color)
    assert.equal(parameter('ramp'), 'viridis')
    await page.getByRole('button', { name: 'Close the style' }).press('Enter')
    assert.ok(
      await page
        .getByRole('button', { name: 'Style', exact: true })
        .evaluate((button) => button === document.activeElement),
    )
  })

  flow('a value has the color that the user gives it, also in a link', async () => {
    const { page } = explorerOf()
    await explorerOf().openWithoutMap('sensors', { color: 'kind' })
    const entry = legend('kind').getByRole('listitem').filter({ hasText: "river's" })
    const fill = () => entry.locator('circle').getAttribute('fill')
    await entry.waitFor()
    const usual = await fill()
    await openStyle()
    // Every value that has a color can have another one.
    const colored = await legend('kind').locator('.swatch input').count()
    assert.ok(colored > 0)
    assert.equal(await page.locator('.category-colors input').count(), colored)
    await page.getByLabel("river's", { exact: true }).last().fill('#ff0000')
    await poll(async () => (await fill()) === '#ff0000')
    assert.equal(parameter('colors'), "river's:ff0000")
    await page.reload()
    await poll(async () => (await fill()) === '#ff0000')
    await openStyle()
    await page.getByRole('button', { name: 'Usual colors' }).click()
    await poll(async () => (await fill()) === usual)
    await legend('kind').getByLabel("Color of river's").fill('#00ff00')
    await poll(async () => (await fill()) === '#00ff00')
    assert.equal(parameter('colors'), "river's:00ff00")
    assert.equal(parameter('filter'), null, 'a color is no filter')
  })

  flow('the time slider filters by a window, plays on the map alone, and pauses at a window', async () => {
    const { page } = explorerOf()
    await open({ time: 'measured' })
    const slider = page.getByLabel('Window of measured')
    /** The rows in the window that the filter has. */
    const rowsInWindow = () => {
      const bounds = /measured >= TIMESTAMP\('(.+?)'\) AND measured <=? TIMESTAMP\('(.+?)'\)/
      const [, from, to] = bounds.exec(parameter('filter')!)!
      return sensors.filter(
        ({ measured }) => Date.parse(measured) >= Date.parse(from!) && Date.parse(measured) < Date.parse(to!),
      ).length
    }
    await slider.press('ArrowRight')
    await poll(async () => parameter('filter') !== null)
    await matched(rowsInWindow())
    const before = parameter('filter')
    const windows = new Set<string>()
    page.on('request', (request) => {
      const filter = new URL(request.url()).searchParams.get('filter')
      if (request.url().includes('/tiles/') && filter && filter !== before) windows.add(filter)
    })
    await page.getByRole('button', { name: 'Play' }).click()
    await poll(async () => windows.size >= 2)
    assert.equal(parameter('filter'), before, 'only the map follows')
    await page.getByRole('button', { name: 'Pause' }).click()
    await poll(async () => parameter('filter') !== before)
    await matched(rowsInWindow())
    await page.getByRole('button', { name: 'All times' }).click()
    await page.locator('.filter-count', { hasText: /^3,000 rows$/ }).waitFor()
  })

  flow('a map shows where features were added, removed and changed', async () => {
    const explorer = explorerOf()
    const { page } = explorer
    const wells = (rows: [id: string, depth: number, x: number][]) =>
      ['id,depth,longitude,latitude', ...rows.map(([id, depth, x]) => `${id},${depth},${x},47`)].join('\n')
    const options = { idColumn: 'id' }
    const first = wells([
      ['a', 1, 8],
      ['b', 2, 9],
      ['c', 3, 10],
      ['e', 5, 12],
    ])
    const second = wells([
      ['b', 2, 9],
      ['c', 30, 10],
      ['d', 4, 11],
      ['e', 50, 12],
    ])
    await explorer.publish('wells', 'wells.csv', first, options)
    await explorer.publish('wells', 'wells.csv', second, options)
    // The versions are compared after publishing.
    await poll(async () => {
      const archives = await explorer.send('GET', '/v1/dataset/wells/archives', undefined)
      return (await archives.json()).data[0].changes !== null
    })
    await explorer.openWithoutMap('wells', { tab: 'versions' })
    const button = page.getByRole('button', { name: 'Map of the changes to version 2' })
    await button.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'What changed from version 1 to 2' })
    await dialog.getByText('1 added').waitFor()
    assert.deepEqual(await dialog.locator('.changes-legend li').allTextContents(), [
      '+1 added',
      '−1 removed',
      '~2 changed',
    ])
    const places = (kind: string) => dialog.locator(`.dots.${kind}`).getAttribute('d')
    assert.deepEqual(
      [await places('added'), await places('removed'), await places('changed')],
      ['M11 -47h0', 'M8 -47h0', 'M10 -47h0M12 -47h0'],
    )
    await dialog.getByRole('button', { name: 'Close' }).press('Enter')
    assert.ok(await button.evaluate((element) => element === document.activeElement))
  })
}
