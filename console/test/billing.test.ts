import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { needs } from '../../scripts/test-run/needs.ts'
import { check } from './check-accessibility.ts'
import { ADMINISTRATOR, startConsole, type TestConsole } from './test-console.ts'
import { chooseAction, poll, shownOn } from './test-page-actions.ts'

needs('chromium', 'processes')

const PICTURES = process.env['WAYLEAVE_TEST_PICTURES']

/** End-to-end tests of buying, on one server, run in order. */
describe('buying in the console', { concurrency: 1 }, () => {
  let service: TestConsole
  let operator: Page
  let buyer: Page

  before(async () => {
    service = await startConsole({
      WAYLEAVE_PAYMENTS: 'demo,invoice',
      WAYLEAVE_NEW_ORGANIZATION_ADD_ONS: 'API_ACCESS,GIS_ACCESS',
      WAYLEAVE_INVOICE_ISSUER: 'Data Office|Harbour Street 1|Rotterdam',
      WAYLEAVE_INVOICE_BANK: 'IBAN NL00 BANK 0123 4567 89',
    })
    operator = (await service.open({ bypassCSP: true, viewport: { width: 1000, height: 700 } })).page
    const bearer = operator.waitForRequest(/auth\/me/).then((request) => request.headerValue('authorization'))
    await service.signIn(operator, ADMINISTRATOR)
    const headers = { authorization: (await bearer)!, 'content-type': 'text/csv' }
    const upload = { method: 'PUT', headers, body: 'name,size\na,1\nb,2\n' }
    const address = `${service.url}/v1/dataset/towns?filename=towns.csv&title=Towns&credits=3`
    assert.equal((await fetch(address, upload)).status, 202)
    await poll(async () => (await fetch(`${service.url}/v1/dataset/towns`)).ok)
    buyer = (await service.open({ bypassCSP: true, viewport: { width: 1000, height: 700 } })).page
    await service.signIn(buyer, 'ada@example.org')
  })
  after(async () => {
    await service.close()
    assert.deepEqual(
      service.faults.filter((fault) => !/40[24]/.test(fault)),
      [],
    )
  })

  const step = (name: string, run: () => Promise<void>) =>
    test(name, async (t) => {
      try {
        await run()
      } catch (error) {
        for (const page of [operator, buyer]) t.diagnostic(await shownOn(page))
        throw error
      }
    })
  /** The page in light, dark and as on a phone. */
  const pictures = async (page: Page, name: string) => {
    if (!PICTURES) return
    const size = page.viewportSize()!
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: `${PICTURES}/${name}-${colorScheme}.png`, fullPage: true })
    }
    await page.emulateMedia({ colorScheme: 'light' })
    await page.setViewportSize({ width: 390, height: 800 })
    await page.screenshot({ path: `${PICTURES}/${name}-phone.png`, fullPage: true })
    await page.setViewportSize(size)
  }

  step('an administrator adds a credit pack and a plan', async () => {
    await operator.goto(`${service.url}/administration/products`)
    await operator.getByText('Nothing is sold yet').waitFor()
    const add = async (name: string, kind: string, more?: (dialog: Locator) => Promise<void>) => {
      await operator.getByRole('button', { name: 'Add a product' }).click()
      const dialog = operator.getByRole('dialog')
      await dialog.getByLabel('Kind').selectOption(kind)
      await dialog.getByLabel('Name').fill(name)
      await dialog.getByLabel('Price').fill('19,00')
      await dialog.getByText('€19.00').waitFor()
      await more?.(dialog)
      await dialog.getByRole('button', { name: 'Add the product' }).click()
      await dialog.waitFor({ state: 'hidden' })
      await operator.getByText(name).waitFor()
    }
    await add('Hundred credits', 'pack')
    await add('Town plan', 'plan', async (dialog) => {
      await dialog.getByLabel('Older versions').check()
      await dialog.getByLabel('Members').fill('5')
      await pictures(operator, 'product-dialog')
    })
    await add('City plan', 'plan', (dialog) => dialog.getByLabel('Price').fill('49'))
    await check(operator)
    await pictures(operator, 'products')
  })

  step('an account without credits is led to what it can buy, buys, and comes back to download', async () => {
    await buyer.goto(`${service.url}/datasets/towns?tab=download`)
    await buyer.getByText('has too few credits').waitFor()
    await buyer.getByRole('link', { name: 'Plans and credits' }).click()
    await buyer.getByRole('heading', { name: 'Hundred credits' }).waitFor()
    await check(buyer)
    await pictures(buyer, 'billing-empty')
    await buyer.getByRole('button', { name: 'Buy Hundred credits' }).click()
    await buyer.getByText('Hundred credits is paid: 100 credits were added.').waitFor()
    await buyer.getByText('INV-000001').waitFor()
    await buyer.getByRole('link', { name: 'Back to what you were doing' }).click()
    await buyer.getByText('has 100 credits').waitFor()
    const file = buyer.waitForEvent('download')
    await buyer.getByRole('button', { name: 'Download CSV' }).click()
    assert.match(readFileSync(await (await file).path(), 'utf8'), /^name,size\r\na,1/)
  })

  step('the invoice is a PDF file', async () => {
    await buyer.goto(`${service.url}/organization/billing`)
    const file = buyer.waitForEvent('download')
    await buyer.getByRole('button', { name: 'PDF of invoice INV-000001' }).click()
    const path = await (await file).path()
    assert.match(readFileSync(path, 'latin1'), /^%PDF-1/)
    if (PICTURES) await (await file).saveAs(`${PICTURES}/invoice.pdf`)
  })

  step('a plan is ordered by invoice, marked as paid, changed and cancelled', async () => {
    await buyer.getByLabel('Pay by').selectOption('invoice')
    await buyer.getByRole('button', { name: 'Buy Town plan' }).click()
    await buyer.getByText('The invoice below has the bank details').waitFor()
    await operator.goto(`${service.url}/administration/orders`)
    await chooseAction(operator, 'order', 'Mark as paid')
    await pictures(operator, 'orders-dialog')
    await operator.getByRole('dialog').getByRole('button', { name: 'Mark as paid' }).click()
    await operator.getByRole('dialog').waitFor({ state: 'hidden' })
    await check(operator)
    await operator.setViewportSize({ width: 1280, height: 700 })
    for (const list of ['orders', 'products']) {
      await operator.goto(`${service.url}/administration/${list}`)
      const hidden = await operator
        .locator('.card .scroll')
        .evaluate((one) => one.scrollWidth - one.clientWidth)
      assert.equal(hidden, 0, `the buttons of ${list} are in view`)
    }
    await operator.setViewportSize({ width: 1000, height: 700 })
    await operator.goto(`${service.url}/administration/orders`)
    await pictures(operator, 'orders')
    await buyer.goto(`${service.url}/organization/billing`)
    await buyer.getByRole('heading', { name: 'Town plan' }).first().waitFor()
    await buyer.getByRole('button', { name: 'Upgrade now' }).click()
    await buyer
      .getByRole('dialog')
      .getByText(/for the time until/)
      .waitFor()
    await check(buyer)
    await pictures(buyer, 'upgrade-dialog')
    await buyer.getByRole('dialog').getByRole('button', { name: 'Order the upgrade' }).click()
    await buyer.getByText('The invoice below has the bank details').waitFor()
    await buyer.goto(`${service.url}/organization/billing`)
    await buyer.getByRole('button', { name: 'Change the plan' }).click()
    await buyer.getByRole('dialog').getByLabel('Plan').selectOption({ label: 'City plan: €49.00 a month' })
    await buyer.getByRole('dialog').getByRole('button', { name: 'Change the plan' }).click()
    await buyer.getByText(/and City plan follows/).waitFor()
    await buyer.getByRole('button', { name: 'Cancel the plan' }).click()
    await buyer.getByRole('dialog').getByRole('button', { name: 'Cancel the plan' }).click()
    await buyer.getByText(/It ends on/).waitFor()
    await check(buyer)
    await pictures(buyer, 'billing-plan')
  })

  step('an administrator reads the revenue, and what filtered rows cost is set', async () => {
    await operator.goto(`${service.url}/administration/revenue`)
    await operator.getByRole('row', { name: /Town plan.*€19\.00/ }).waitFor()
    await operator.getByRole('row', { name: /Towns/ }).waitFor()
    await check(operator)
    await pictures(operator, 'revenue')
    const file = operator.waitForEvent('download')
    await operator.getByRole('button', { name: 'CSV' }).click()
    assert.match(readFileSync(await (await file).path(), 'utf8'), /purchase/)
    await operator.goto(`${service.url}/administration/datasets`)
    await chooseAction(operator, 'towns', 'Edit')
    const dialog = operator.getByRole('dialog')
    await dialog.getByLabel('A file of filtered rows costs').selectOption('whole')
    await dialog.getByRole('button', { name: 'Save the description' }).click()
    await dialog.waitFor({ state: 'hidden' })
    const { extractPrice } = (await (await fetch(`${service.url}/v1/dataset/towns`)).json()) as {
      extractPrice: string
    }
    assert.equal(extractPrice, 'whole')
  })

  step('a key and a member get a budget', async () => {
    await buyer.goto(`${service.url}/keys`)
    await buyer
      .getByRole('button', { name: /Create a.* key/ })
      .first()
      .click()
    const dialog = buyer.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Limited')
    await dialog.getByLabel('Credits a month').fill('5')
    await pictures(buyer, 'key-dialog')
    await dialog.getByRole('button', { name: 'Create the key' }).click()
    await buyer.getByRole('dialog').getByRole('button').last().click()
    await buyer.goto(`${service.url}/keys`)
    await buyer.getByRole('link', { name: 'Limited' }).click()
    await buyer.getByText('5 credits a month, 0 used').waitFor()
    await pictures(buyer, 'key-page')
    await buyer.goto(`${service.url}/organization/members`)
    await chooseAction(buyer, 'ada@example.org', 'Set a budget')
    await dialog.getByLabel('Credits a month').fill('7')
    await dialog.getByRole('button', { name: 'Save the budget' }).click()
    await buyer.getByRole('row', { name: /ada@example.org.*7/ }).waitFor()
    await check(buyer)
    await pictures(buyer, 'members')
  })

  step('the name on invoices is changed', async () => {
    await buyer.goto(`${service.url}/organization/billing`)
    await buyer.getByRole('button', { name: 'Change', exact: true }).click()
    const dialog = buyer.getByRole('dialog')
    await dialog.getByLabel('Company').fill('Town of Utrecht')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await buyer.getByText('Town of Utrecht').waitFor()
  })
})
