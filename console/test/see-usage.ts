import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { poll } from './test-page-actions.ts'

/** Reads the usage of the key “My notebook”, which was used twice, and of its organization; ends on the key's page. */
export async function seeUsage(user: Page): Promise<void> {
  await user.getByRole('link', { name: 'Keys', exact: true }).click()
  await user.getByRole('link', { name: 'My notebook' }).click()
  await user.getByRole('heading', { name: 'My notebook' }).waitFor()
  await poll(async () => {
    await user.reload()
    const totals = user.locator('[data-usage-totals]')
    await totals.waitFor()
    return /^2 calls and 1 credit /.test((await totals.textContent())!)
  })
  await user.locator('.chart canvas').waitFor()
  await user.getByRole('row', { name: 'File download Parcels of the town CSV 1 1' }).waitFor()
  await user.getByLabel('Last day').fill('2026-01-31')
  await user.getByLabel('First day').fill('2026-01-01')
  await user.getByText(/0 calls and 0 credits from 1 Jan 2026/).waitFor()
  const key = user.url()
  await changeAtOnce(user)
  await user.goto(key)
}

/** Two changes before the router has applied the first one are both in the address. */
async function changeAtOnce(user: Page): Promise<void> {
  await user.goto(new URL('/organization/usage', user.url()).href)
  await user
    .getByLabel('Dataset', { exact: true })
    .locator('option', { hasText: 'Parcels of the town' })
    .waitFor({
      state: 'attached',
    })
  await addUp(user)
  const today = await user.getByLabel('Last day').inputValue()
  const dataset = await user.getByLabel('Dataset', { exact: true }).elementHandle()
  const day = await user.getByLabel('First day').elementHandle()
  await user.evaluate(
    ([select, input, value]) => {
      const change = (element: HTMLElement, prototype: object, value: string, event: string) => {
        Object.getOwnPropertyDescriptor(prototype, 'value')!.set!.call(element, value)
        element.dispatchEvent(new Event(event, { bubbles: true }))
      }
      change(input as HTMLElement, HTMLInputElement.prototype, value as string, 'input')
      change(select as HTMLElement, HTMLSelectElement.prototype, 'parcels', 'change')
    },
    [dataset, day, today],
  )
  const parameter = (name: string) => new URL(user.url()).searchParams.get(name)
  await poll(async () => parameter('table') === 'parcels')
  await user.waitForTimeout(100)
  assert.deepEqual([parameter('table'), parameter('from')], ['parcels', today])
}

/** The rows by dataset add up to all calls: those that concern no single dataset are among them. */
async function addUp(user: Page): Promise<void> {
  const table = user.locator('section', { has: user.getByRole('heading', { name: 'By dataset' }) })
  await table.getByRole('row', { name: /^All datasets/ }).waitFor()
  const calls = (await table.locator('.share').allTextContents()).map(Number)
  const total = /^\d+/.exec((await user.locator('[data-usage-totals]').textContent())!)![0]
  assert.equal(
    calls.reduce((sum, one) => sum + one, 0),
    Number(total),
  )
}
