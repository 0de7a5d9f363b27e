/**
 * `npm run pictures`: takes the pictures of the README and of the documentation from the demo, so that they show the
 * product as it is. With names as arguments, only those.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { palettePng } from './palette-png.ts'
import { ADMINISTRATOR, startConsole } from './test-console.ts'
import { drop } from './test-page-actions.ts'

const folder = join(import.meta.dirname, '..', '..', 'docs', 'pictures')
const MAX_BYTES = 250_000
const MAX_TRIES = 60

const only = process.argv.slice(2)
const isWanted = (name: string) => only.length === 0 || only.includes(name)

const QUAKES = '/datasets/earthquakes?'
const STORY = 'time;step=day;by=net,mag;by=net'
const EXPLORER = `${QUAKES}${new URLSearchParams({
  tab: 'charts',
  charts: STORY,
  filter: 'mag >= 2',
  color: 'mag',
  classing: 'continuous',
  size: 'mag',
  view: '-135,25,1.7',
})}`
const CHARTS = `${QUAKES}${new URLSearchParams({
  tab: 'charts',
  charts: `${STORY},net;kind=box;of=mag,depth;kind=points;of=mag`,
})}`

/** A small file that is not perfect: decimal commas, days before months, and a row without coordinates. */
const GAUGES = [
  'code;water level;read;river;longitude;latitude',
  'G-01;1,52;31-10-2026;Rhine;6.10;51.85',
  'G-02;2,07;31-10-2026;Meuse;5.97;51.36',
  'G-03;0,94;01-11-2026;Vecht;5.12;52.09',
  'G-04;1,11;01-11-2026;Amstel;;',
].join('\n')

const PRODUCTS = [
  { kind: 'plan', name: 'Town', period: 'month', price: 4900, credits: 50, limits: { keys: 5, members: 5 } },
  { kind: 'plan', name: 'Region', period: 'month', price: 14_900, credits: 400, addOns: ['ARCHIVED_DATA'] },
  { kind: 'pack', name: '100 credits', price: 1900, credits: 100 },
]

const demo = await startConsole({ WAYLEAVE_TILES: 'true', WAYLEAVE_PAYMENTS: 'demo' }, ['--demo'])
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    const names = [`explorer-${colorScheme}`, ...(colorScheme === 'light' ? ['charts', 'connect'] : [])]
    if (!names.some(isWanted)) continue
    const { context, page } = await demo.open({
      colorScheme,
      viewport: { width: 1440, height: 1560 },
      hasMaps: true,
    })
    await demo.signIn(page, 'demo@example.org')
    await tilesReady('earthquakes')
    if (isWanted(`explorer-${colorScheme}`)) {
      await page.goto(`${demo.url}${EXPLORER}`)
      await page.getByRole('figure').nth(1).getByRole('img').waitFor()
      await mapDrawn(page)
      await take(page, `explorer-${colorScheme}`)
    }
    if (colorScheme === 'light') await picturesOfPages(page)
    await context.close()
  }
  await picturesOfForms()
} finally {
  await demo.close()
}

async function picturesOfPages(page: Page): Promise<void> {
  if (isWanted('charts')) {
    await page.goto(`${demo.url}${CHARTS}`)
    await page.getByRole('figure').nth(3).getByRole('img').waitFor()
    await take(page, 'charts', page.locator('.charts'))
  }
  if (isWanted('connect')) await pictureOfConsent(page)
}

/** Small pages, each as wide as the text of the documentation has room for. */
async function picturesOfForms(): Promise<void> {
  const names = ['start', 'new-key', 'publishing', 'plans', 'ogc-page']
  if (!names.some(isWanted)) return
  const { context, page } = await demo.open({ colorScheme: 'light', viewport: { width: 1100, height: 760 } })
  if (isWanted('start')) {
    await page.goto(demo.url)
    await page.locator('.living-map .dots').waitFor()
    await take(page, 'start')
  }
  const bearer = page.waitForRequest(/auth\/me/).then((request) => request.headerValue('authorization'))
  await demo.signIn(page, ADMINISTRATOR)
  const authorization = (await bearer)!
  if (isWanted('new-key')) {
    await page.goto(`${demo.url}/keys`)
    await page.getByRole('button', { name: 'Create a personal key' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Map of the town hall')
    await take(page, 'new-key', page.getByRole('dialog'))
  }
  if (isWanted('publishing')) {
    await page.goto(`${demo.url}/administration/publish`)
    await drop(page, 'Gauges.csv', GAUGES)
    // The part is higher than the window, and the bar would stay over it.
    await page.getByRole('banner').evaluate((bar) => {
      bar.style.position = 'static'
    })
    await take(page, 'publishing', page.getByRole('region', { name: 'What the file contains' }))
  }
  if (isWanted('plans')) {
    for (const product of PRODUCTS)
      await fetch(`${demo.url}/v1/admin/products`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ currency: 'EUR', ...product }),
      })
    await page.goto(`${demo.url}/organization/billing`)
    await take(page, 'plans', page.getByRole('region', { name: 'Buy' }))
  }
  if (isWanted('ogc-page')) {
    await page.goto(`${demo.url}/v1/ogc/collections/earthquakes?f=html`)
    await take(page, 'ogc-page')
  }
  await context.close()
}

/** Until then the map draws the features themselves. They are built at the lowest priority. */
async function tilesReady(table: string): Promise<void> {
  for (;;) {
    const { tiles } = await (await fetch(`${demo.url}/v1/dataset/${table}`)).json()
    if (tiles.state === 'ready') return
    if (tiles.state === 'failed') throw new Error(`The tiles of ${table} could not be built.`)
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

async function mapDrawn(page: Page): Promise<void> {
  await page.getByText(/[\d,]+ features in view$/).waitFor()
  await page.locator('.map[aria-busy=false]').waitFor()
}

/** The page on which a user gives an assistant access. */
async function pictureOfConsent(page: Page): Promise<void> {
  const redirect_uri = 'http://127.0.0.1:33418/callback'
  const registered = await fetch(`${demo.url}/oauth/register`, {
    method: 'POST',
    body: JSON.stringify({ client_name: 'Desk assistant', redirect_uris: [redirect_uri] }),
  })
  const { client_id } = await registered.json()
  const pkce = { code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' }
  const query = new URLSearchParams({ client_id, redirect_uri, response_type: 'code', ...pkce })
  await page.setViewportSize({ width: 1000, height: 800 })
  await page.goto(`${demo.url}/connect?${query}`)
  await take(page, 'connect')
}

/** Takes a picture of the page or of a part of it, once nothing is requested and drawn any more. */
async function take(page: Page, name: string, part: Page | Locator = page): Promise<void> {
  await page.waitForLoadState('networkidle')
  let before: Buffer = Buffer.alloc(0)
  let now = await part.screenshot()
  for (let tries = 0; !now.equals(before); tries++) {
    if (tries === MAX_TRIES) throw new Error(`${name} did not come to rest.`)
    await page.waitForTimeout(1000)
    before = now
    now = await part.screenshot()
  }
  const png = await palettePng(page, now)
  if (png.length > MAX_BYTES) throw new Error(`${name}.png has ${png.length} bytes, more than ${MAX_BYTES}.`)
  writeFileSync(join(folder, `${name}.png`), png)
  console.log(`${name}.png: ${png.length} bytes`)
}
