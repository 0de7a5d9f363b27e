import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'

/** The text of a page, for the failure report. */
export async function shownOn(page: Page): Promise<string> {
  const text = (await page.locator('body').textContent()) ?? ''
  return `${page.url()}: ${text.replace(/\s+/g, ' ').slice(0, 600)}`
}

/** Opens another page of the console as its own links do, without loading its code again. */
export async function navigate(page: Page, path: string): Promise<void> {
  await page.evaluate((address) => {
    history.pushState(null, '', address)
    dispatchEvent(new PopStateEvent('popstate'))
  }, path)
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
