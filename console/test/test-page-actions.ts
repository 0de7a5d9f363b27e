import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'

/** A folder for pictures of pages; without it, none are taken. */
const PICTURES = process.env['WAYLEAVE_TEST_PICTURES']

/** The text of a page, for the failure report. */
export async function shownOn(page: Page): Promise<string> {
  const text = (await page.locator('body').textContent()) ?? ''
  return `${page.url()}: ${text.replace(/\s+/g, ' ').slice(0, 600)}`
}

/** For tests on one page that run in order: a step that fails reports what the page shows. */
export function stepsOn(pageOf: () => Page) {
  const step = (name: string, run: () => Promise<void>) =>
    test(name, async (t) => {
      try {
        await run()
      } catch (error) {
        t.diagnostic(await shownOn(pageOf()))
        throw error
      }
    })
  /** The page in light, dark, and on a phone. */
  const picture = async (name: string) => {
    if (!PICTURES) return
    const page = pageOf()
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: `${PICTURES}/${name}-${colorScheme}.png`, fullPage: true })
    }
    await page.setViewportSize({ width: 390, height: 800 })
    await page.screenshot({ path: `${PICTURES}/${name}-phone.png`, fullPage: true })
    await page.setViewportSize({ width: 1280, height: 860 })
  }
  return { step, picture }
}

/** Opens another page of the console as its own links do, without loading its code again. */
export async function navigate(page: Page, path: string): Promise<void> {
  await page.evaluate((address) => {
    history.pushState(null, '', address)
    dispatchEvent(new PopStateEvent('popstate'))
  }, path)
}

/**
 * A script for all pages: without a graphics processor, a map at a deep zoom occupies the page for half a minute, and most
 * tests are not about maps. Maps are drawn while `areMapsDrawn` is set.
 */
export function drawMapsIfAsked(): void {
  const { getContext } = HTMLCanvasElement.prototype
  HTMLCanvasElement.prototype.getContext = function (this: HTMLCanvasElement, ...args: never[]) {
    const isOff = /webgl/.test(String(args[0])) && !('areMapsDrawn' in window && window.areMapsDrawn)
    return isOff ? null : Reflect.apply(getContext, this, args)
  } as never
}

/** Makes every document that the page loads from now on draw its maps. */
export async function drawMaps(page: Page): Promise<void> {
  await page.addInitScript(() => Object.assign(window, { areMapsDrawn: true }))
}

/** Chooses an action in the menu of the first row whose name begins so. */
export async function chooseAction(page: Page, row: string, action: string): Promise<void> {
  await page
    .getByRole('button', { name: `Actions for ${row}` })
    .first()
    .click()
  await page.getByRole('menuitem', { name: action }).click()
}

/** Drops a file on the page, as a user does. */
export async function drop(page: Page, name: string, content: string): Promise<void> {
  const transfer = await page.evaluateHandle(
    ([name, content]) => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([content!], name!))
      return transfer
    },
    [name, content],
  )
  await page.locator('.drop').dispatchEvent('drop', { dataTransfer: transfer })
}

/**
 * Waits for something that happens a moment later, such as usage that is written once a second. Tiles are built at the
 * lowest priority, which on a machine whose cores are all busy takes minutes.
 */
export async function poll(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 3000; tries++) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  assert.fail('It did not happen within five minutes.')
}

/** Copies and confirms a new secret, and returns it. */
export async function storedSecret(page: Page): Promise<string> {
  const shown = await page.locator('[data-secret]').textContent()
  await page.getByRole('dialog').getByRole('button', { name: 'Copy' }).click()
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), shown)
  await page.getByRole('button', { name: 'Done' }).click()
  return shown!
}
