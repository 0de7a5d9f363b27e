import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Page } from 'playwright-core'
import { needs } from '../../scripts/test-run/needs.ts'
import { explorerFlow, openExplorer, type TestExplorer } from './explorer-fixture.ts'
import { drop, navigate, poll } from './test-page-actions.ts'

needs('chromium', 'processes')

/** Squares along the equator, by the longitude of their middle. */
const squares = {
  '-24': { name: 'a', kind: 'a', value: 0, mass: 1e24 },
  '-12': { name: 'b', kind: '', value: 10, mass: -6e25 },
  '0': { name: 'c', kind: null, value: null, mass: 3e19 },
  '12': { name: 'd', kind: '', value: -10, mass: 1 },
  '24': { name: 'e', kind: 'a', value: 20, mass: null },
}
const PIXELS_PER_DEGREE = (512 * 2 ** 3) / 360

function source(): string {
  const features = Object.entries(squares).map(([middle, properties]) => {
    const [west, east] = [Number(middle) - 4, Number(middle) + 4]
    const ring = [
      [west, -4],
      [east, -4],
      [east, 4],
      [west, 4],
      [west, -4],
    ]
    return { type: 'Feature', properties, geometry: { type: 'Polygon', coordinates: [ring] } }
  })
  return JSON.stringify({ type: 'FeatureCollection', features })
}

/** A table of 450 rows and 13 columns; some texts are long, and the numbers have 16 digits. */
function longTexts(): string {
  const names = Array.from({ length: 12 }, (_, index) => `text_${index}`)
  const rows = Array.from({ length: 450 }, (_, row) =>
    names.map((_, index) => (index === 0 && row % 100 === 5 ? 'long '.repeat(60) : `value ${row}`)),
  )
  const numbered = rows.map((row, index) => [...row, 8_008_888_888_888_000 + index])
  return [[...names, 'number'], ...numbered].map((row) => row.join(',')).join('\n')
}

/** Points of 20 kinds, more than there are colors; some have none. */
function kinds(): string {
  const rows = Array.from({ length: 210 }, (_, row) => [row / 10, 50, row % 21 ? `kind ${row % 21}` : ''])
  return [['longitude', 'latitude', 'kind'], ...rows].map((row) => row.join(',')).join('\n')
}

describe('odd values and failures in the explorer', () => {
  let explorer: TestExplorer
  before(async () => {
    explorer = await openExplorer()
    await explorer.publish('tiled', 'squares.geojson', source())
    await explorer.publish('plain', 'squares.geojson', source(), { tiles: 'false' })
    await explorer.publish('long', 'long.csv', longTexts())
    await explorer.publish('kinds', 'kinds.csv', kinds(), { sample: 'false' })
    await explorer.tilesReady('tiled')
    await explorer.tilesReady('kinds')
  })
  after(() => explorer.close())
  const flow = (name: string, act: () => Promise<void>) => explorerFlow(name, () => explorer, act)

  /** The colors in the middles of the squares, once the map shows them. */
  const colors = async (page: Page): Promise<Record<string, string>> => {
    const { page: reader, context } = await explorer.service.open()
    const canvas = page.locator('.map canvas').first()
    let found: string[] = []
    const offsets = [...Object.keys(squares).map(Number), 6].map((degrees) => degrees * PIXELS_PER_DEGREE)
    await poll(async () => {
      const image = (await canvas.screenshot()).toString('base64')
      found = await reader.evaluate(readPixels, { image, offsets })
      return found.slice(0, -1).every((color) => color !== found.at(-1))
    })
    await context.close()
    return Object.fromEntries(Object.keys(squares).map((middle, index) => [middle, found[index]!]))
  }

  for (const table of ['tiled', 'plain']) {
    flow(`numbers beyond 64 bits do not empty the map (${table})`, async () => {
      await explorer.open(table, { view: '0,0,3', color: '' })
      assert.equal(new Set(Object.values(await colors(explorer.page))).size, 1)
    })

    flow(`features without a value are neither “empty” nor 0 (${table})`, async () => {
      const { page } = explorer
      await explorer.open(table, { view: '0,0,3', color: 'kind' })
      await page.getByRole('region', { name: 'Legend: kind' }).getByText('empty', { exact: true }).waitFor()
      const byKind = await colors(page)
      assert.equal(byKind['-12'], byKind['12'], 'the empty texts')
      assert.notEqual(byKind['0'], byKind['12'])
      assert.notEqual(byKind['0'], byKind['-24'])
      await explorer.open(table, { view: '0,0,3', color: 'value' })
      await page.getByRole('region', { name: 'Legend: value' }).getByText('no value').waitFor()
      const byValue = await colors(page)
      assert.equal(byValue['0'], byKind['0'], 'grey')
      assert.equal(new Set(Object.values(byValue)).size, 5)
    })
  }

  flow('columns keep their widths, however long the texts are that are scrolled to', async () => {
    const { page } = explorer
    await explorer.openWithoutMap('long')
    const widths = () =>
      page.locator('.rows thead th').evaluateAll((heads) => heads.map((head) => head.clientWidth))
    await page.locator('.rows tbody tr[data-index="0"]').waitFor()
    const before = await widths()
    assert.ok(Math.max(...before) < 400, before.join())
    await page.locator('.rows').evaluate((rows) => rows.scrollTo(0, 32 * 100))
    await page.locator('.rows tbody tr[data-index="105"]').waitFor()
    assert.deepEqual(await widths(), before)
  })

  flow('numbers are not cut off', async () => {
    const { page } = explorer
    await explorer.openWithoutMap('long')
    const number = page.locator('.rows tbody tr[data-index="0"] td.number')
    await number.waitFor()
    assert.match((await number.textContent())!, /^8008888888888\d{3}$/)
    assert.ok(await number.evaluate((cell) => cell.scrollWidth <= cell.clientWidth))
  })

  flow('the head that sorts a table keeps the focus', async () => {
    const { page } = explorer
    await explorer.openWithoutMap('long')
    const head = page.getByRole('button', { name: 'text_3', exact: true })
    for (const direction of ['ascending', 'descending']) {
      await head.press('Enter')
      await page.locator(`th[aria-sort="${direction}"]`).waitFor()
      const first = direction === 'ascending' ? 'value 0' : 'value 99'
      await page.locator('.rows tbody tr[data-index="0"]', { hasText: first }).waitFor()
      assert.ok(await head.evaluate((element) => element === document.activeElement), direction)
    }
  })

  flow('rows that cannot be loaded while scrolling are reported, and can be tried again', async () => {
    const { page } = explorer
    await explorer.openWithoutMap('long')
    await page.locator('.rows tbody tr[data-index="0"]').waitFor()
    await page.route('**/items?*cursor=*', (route) => route.abort())
    const rows = page.locator('.rows')
    await rows.evaluate((element) => element.scrollTo(0, 32 * 200))
    await page.getByRole('alert').waitFor()
    await page.unroute('**/items?*cursor=*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await rows.evaluate((element) => element.scrollTo(0, 32 * 300))
    await page.locator('.rows tbody tr[data-index="300"]').waitFor()
  })

  flow('a map whose features in view cannot be counted says so', async () => {
    const { page } = explorer
    await page.route('**/items?*resulttype=hits*', (route) => route.abort())
    await explorer.open('plain')
    await page.getByText('The features in view could not be counted', { exact: true }).waitFor()
    await page.unroute('**/items?*resulttype=hits*')
  })

  flow('a page of a list that cannot be loaded is reported, and can be tried again', async () => {
    const { page } = explorer
    const { organization } = await (await explorer.send('GET', '/v1/auth/me', undefined)).json()
    for (let added = 0; added < 60; added++) {
      await explorer.send('POST', `/v1/admin/organizations/${organization.id}/credits`, { add: 1 })
    }
    await navigate(page, '/organization/credits')
    const more = page.getByRole('button', { name: 'Show more' })
    await more.waitFor()
    await page.route('**/ledger?*before=*', (route) => route.abort())
    await more.click()
    await page.getByRole('alert').waitFor()
    await page.unroute('**/ledger?*before=*')
    await more.click()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    assert.equal(await more.count(), 0)
  })

  flow('what is asked for without a connection fails at once, and is not done later', async () => {
    const { page } = explorer
    await navigate(page, '/keys')
    const create = page.getByRole('button', { name: 'Create a personal key' })
    await create.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Not wanted')
    await page.context().setOffline(true)
    await dialog.getByRole('button', { name: 'Create the key' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.context().setOffline(false)
    await create.click()
    await dialog.getByLabel('Name').fill('Wanted')
    await dialog.getByRole('button', { name: 'Create the key' }).click()
    await dialog.getByLabel('I have stored the secret').check()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('link', { name: 'Wanted', exact: true }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'Not wanted' }).count(), 0)
  })

  flow('a service on the same machine is read without a connection to the Internet', async () => {
    const { page } = explorer
    await navigate(page, '/datasets')
    await page.evaluate(() => dispatchEvent(new Event('offline')))
    await navigate(page, '/organization/events')
    await page.getByRole('table').waitFor()
    await page.evaluate(() => dispatchEvent(new Event('online')))
  })

  flow('the outcome of publishing scrolls into view', async () => {
    const { page } = explorer
    await navigate(page, '/administration/publish')
    await page.locator('.drop').waitFor()
    await drop(page, 'broken.geojson', '{"type":"FeatureCollection","features":[{')
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    const alert = page.getByRole('alert')
    await alert.waitFor()
    const bar = (await page.getByRole('banner').boundingBox())!
    await poll(async () => {
      const box = (await alert.boundingBox())!
      return box.y >= bar.height && box.y + box.height <= page.viewportSize()!.height
    })
  })

  flow('the legend says completely what has no color', async () => {
    await explorer.openWithoutMap('kinds', { color: 'kind' })
    for (const label of ['others', 'no value']) {
      const rest = explorer.page.getByRole('listitem').getByText(label, { exact: true })
      await rest.waitFor()
      assert.ok(await rest.evaluate((element) => element.scrollWidth <= element.clientWidth))
    }
  })

  flow('a map without a free sample says so, instead of a sample of 0 features', async () => {
    const { page: visitor, context } = await explorer.service.open({ hasMaps: true })
    await visitor.goto(`${explorer.service.url}/datasets/kinds`)
    await visitor.locator('.map-note', { hasText: /^There is no free sample.$/ }).waitFor()
    await context.close()
  })

  flow('a title without spaces wraps, on the page and in the catalogue', async () => {
    const { page } = explorer
    await explorer.send('PATCH', '/v1/dataset/tiled', { title: 'Squares'.repeat(20) })
    const width = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    await page.goto(`${explorer.service.url}/datasets/tiled`)
    await page.getByRole('heading', { name: 'SquaresSquares' }).waitFor()
    assert.ok((await width()) <= 0)
    await navigate(page, '/datasets')
    const card = page.locator('.dataset-card', { hasText: 'SquaresSquares' })
    await card.waitFor()
    assert.ok(await card.evaluate((element) => element.scrollWidth <= element.clientWidth))
  })

  flow('a preview shows the whole extent of a dataset', async () => {
    const { page } = explorer
    await navigate(page, '/datasets')
    const preview = page.locator('.dataset-card', { hasText: 'Plain' }).locator('svg')
    const extent = preview.locator('.extent')
    await extent.waitFor()
    const [outer, inner] = [(await preview.boundingBox())!, (await extent.boundingBox())!]
    assert.ok(inner.x > outer.x && inner.x + inner.width < outer.x + outer.width)
    assert.ok(inner.y > outer.y && inner.y + inner.height < outer.y + outer.height)
  })
})

/** The colors of pixels of the middle line of an image, by their distances from its middle. */
async function readPixels({ image, offsets }: { image: string; offsets: number[] }): Promise<string[]> {
  const picture = new Image()
  picture.src = `data:image/png;base64,${image}`
  await picture.decode()
  const canvas = new OffscreenCanvas(picture.width, picture.height)
  const context = canvas.getContext('2d')!
  context.drawImage(picture, 0, 0)
  const [x, y] = [picture.width / 2, picture.height / 2]
  return offsets.map((offset) => context.getImageData(x + offset, y + 8, 1, 1).data.join(' '))
}
