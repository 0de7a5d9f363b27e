/**
 * `npm run pictures`: takes the pictures of the README and of the documentation from the demo, so that they show the
 * product as it is. With names as arguments, only those.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { palettePng } from './palette-png.ts'
import { startConsole } from './test-console.ts'

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

const demo = await startConsole({ WAYLEAVE_TILES: 'true' }, ['--demo'])
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    const { context, page } = await demo.open({ colorScheme, viewport: { width: 1440, height: 1560 } })
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
