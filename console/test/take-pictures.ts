/** `npm run pictures`: takes the pictures of the README from the demo, in light and dark. */
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
    await context.close()
  }
} finally {
  await demo.close()
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
