/** `npm run pictures`: takes the pictures of the README and of the documentation from the demo. */
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { startConsole } from './test-console.ts'

const folder = join(import.meta.dirname, '..', '..', 'docs', 'pictures')
const VIEW = '/datasets/earthquakes?color=mag&size=mag&filter=mag+%3E%3D+4.5&view=1.6/12/140&tab=charts'

const demo = await startConsole({ WAYLEAVE_TILES: 'true' }, ['--demo'])
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    const { context, page } = await demo.open({ colorScheme, viewport: { width: 1440, height: 1000 } })
    await demo.signIn(page, 'demo@example.org')
    await page.goto(`${demo.url}${VIEW}`)
    await settled(page)
    await page.screenshot({ path: join(folder, `explorer-${colorScheme}.png`) })
    if (colorScheme === 'light') await pictureOfConsent(page)
    await context.close()
  }
} finally {
  await demo.close()
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
  await settled(page)
  await page.screenshot({ path: join(folder, 'connect.png') })
}

/** Waits until nothing is requested and drawn any more. */
async function settled(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle')
  let before = ''
  for (;;) {
    await page.waitForTimeout(1000)
    const now = (await page.screenshot()).toString('base64')
    if (now === before) return
    before = now
  }
}
