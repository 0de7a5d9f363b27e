import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe } from 'node:test'
import type { Page } from 'playwright-core'
import { needs } from '../../scripts/test-run/needs.ts'
import { startConsole, type TestConsole } from './test-console.ts'
import { chooseAction, poll, stepsOn } from './test-page-actions.ts'

needs('chromium', 'processes')

/** End-to-end tests on one server, run in order. */
describe('webhooks, notices and requests in the console', { concurrency: 1 }, () => {
  let service: TestConsole
  let page: Page
  let receiver: Server
  let url = ''
  let status = 204
  const received: { type: string }[] = []

  before(async () => {
    service = await startConsole({ WAYLEAVE_ALLOW_INTERNAL_ADDRESSES: 'true' })
    page = (await service.open()).page
    receiver = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      received.push(JSON.parse(body))
      response.writeHead(status).end()
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
    await service.signIn(page, 'ada@example.org')
  })
  after(async () => {
    receiver.close()
    await service.close()
    assert.deepEqual(service.faults, [])
  })

  const { step, picture } = stepsOn(() => page)
  const click = (name: string | RegExp) => page.getByRole('button', { name }).first().click()

  step('a webhook is created, and its secret is shown once', async () => {
    await page.goto(`${service.url}/organization/webhooks`)
    await click('Create a webhook')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Address').fill('ftp://hooks.example.org')
    await dialog.getByRole('button', { name: 'Create the webhook' }).click()
    await dialog.getByRole('alert').first().waitFor()
    await dialog.getByLabel('Address').fill(url)
    await dialog.getByLabel('Note').fill('Our ticket system')
    await picture('webhook-dialog')
    await dialog.getByRole('button', { name: 'Create the webhook' }).click()
    assert.match((await page.locator('[data-secret]').textContent()) ?? '', /^whsec_/)
    await page.getByLabel('I have stored the secret').check()
    await click('Done')
    await page.getByRole('cell', { name: 'Active' }).waitFor()
    await picture('webhooks')
  })

  step('a test message is delivered, shown and sent again', async () => {
    await page.getByRole('link', { name: url }).click()
    await click('Send a test')
    await page.getByText('Delivered', { exact: true }).last().waitFor()
    await chooseAction(page, 'the message', 'Show')
    await page.getByRole('dialog').getByText('"webhook.test"').waitFor()
    await picture('delivery')
    await click('Close')
    await chooseAction(page, 'the message', 'Send again')
    await page.getByRole('row').filter({ hasText: 'webhook.test' }).getByText('2', { exact: true }).waitFor()
    assert.deepEqual(
      received.map(({ type }) => type),
      ['webhook.test', 'webhook.test'],
    )
  })

  step('a receiver that is gone pauses the webhook, which is resumed and tells of a new key', async () => {
    status = 410
    await click('Send a test')
    await page.getByText('The receiver responded 410 Gone.').waitFor()
    await picture('webhook-paused')
    const { link } = await service.mailedLink('ada@example.org')
    assert.equal(link, `${service.url}/organization/webhooks`)
    status = 204
    await click('Resume')
    await page.getByRole('button', { name: 'Send a test' }).waitFor()
    await page.goto(`${service.url}/keys`)
    await click('Create a personal key')
    await page.getByRole('dialog').getByLabel('Name').fill('CI')
    await page.getByLabel(/^Test key/).check()
    await page.getByRole('button', { name: 'Create the key' }).click()
    const secret = (await page.locator('[data-secret]').textContent()) ?? ''
    assert.match(secret, /^svc_test_/)
    await page.getByLabel('I have stored the secret').check()
    await click('Done')
    for (const path of ['/v1/datasets', '/v1/dataset/nowhere'])
      await fetch(`${service.url}${path}`, { headers: { 'X-API-Key': secret } })
    await page.getByText('Active, samples only').waitFor()
  })

  step('the page of a key lists its requests', async () => {
    await page.getByRole('link', { name: 'CI' }).click()
    const card = page.locator('section.card').filter({ has: page.getByRole('heading', { name: 'Requests' }) })
    // Rows of requests; the days above them are rows too.
    const rows = card.getByRole('row').filter({ has: page.getByRole('cell') })
    await card.waitFor()
    // Requests are recorded within a second.
    await poll(async () => {
      await page.reload()
      await rows.first().or(card.getByText('No requests yet')).waitFor()
      return (await rows.count()) === 2
    })
    await picture('key-requests')
    await card.getByLabel('Status').selectOption('4xx')
    await poll(async () => (await rows.count()) === 1)
    const download = page.waitForEvent('download')
    await click('CSV')
    assert.equal((await download).suggestedFilename(), 'requests.csv')
    await poll(async () => received.some(({ type }) => type === 'key.created'))
  })

  step('notices are switched off, and the limit of credits is set', async () => {
    await page.goto(`${service.url}/organization/notices`)
    const box = page.getByLabel('A key expires in 14, 3 or 1 days.')
    await box.uncheck()
    // It is disabled while it is saved.
    await poll(() => box.isEnabled())
    const limit = page.getByLabel(/balance falls below/)
    await limit.fill('50')
    assert.equal(await limit.inputValue(), '50')
    const saved = page.waitForResponse((response) => response.request().method() === 'PATCH')
    await click('Save')
    assert.equal((await saved).request().postData(), '{"creditLimit":50}')
    await page.getByText('Saved').waitFor()
    await picture('notices')
    await page.reload()
    await box.waitFor()
    assert.equal(await box.isChecked(), false)
    assert.equal(await limit.inputValue(), '50')
  })

  step('nothing but the message of a request takes several lines', async () => {
    await page.goto(`${service.url}/organization/access`)
    await click('Request access')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Older versions').check()
    await dialog.getByLabel('Credits').fill('100')
    await dialog
      .getByLabel('What do you need it for?')
      .fill('We compare the network over ten years. '.repeat(6))
    await dialog.getByRole('button', { name: /^(Send|Request)/ }).click()
    const row = page.getByRole('row').filter({ hasText: 'Open' })
    await row.waitFor()
    /** The parts of the row's texts that are on more than one line; the address may wrap before the @. */
    const broken = await row.evaluate((element) => {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
      const texts: string[] = []
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const range = document.createRange()
        range.selectNodeContents(node)
        const tops = new Set(Array.from(range.getClientRects(), ({ top }) => Math.round(top)))
        if (tops.size > 1) texts.push(node.nodeValue!.trim())
      }
      return texts
    })
    assert.deepEqual(broken, ['We compare the network over ten years. '.repeat(6).trim()])
  })

  step('a page begins at its top, also if another one was left further down', async () => {
    await page.setViewportSize({ width: 1280, height: 300 })
    await page.goto(`${service.url}/organization/notices`)
    await page.getByLabel(/balance falls below/).waitFor()
    await page.evaluate(() => scrollTo(0, 250))
    assert.equal(await page.evaluate(() => scrollY), 250)
    await page.goto(`${service.url}/organization/access`)
    await page.getByRole('heading', { name: 'Requests' }).waitFor()
    assert.equal(await page.evaluate(() => scrollY), 0)
    // The page that was left, opened again.
    await page.goto(`${service.url}/organization/notices`)
    await page.getByLabel(/balance falls below/).waitFor()
    assert.equal(await page.evaluate(() => scrollY), 0)
    // Loaded again, it comes back to its place, also if its content comes later.
    await page.evaluate(() => scrollTo(0, 250))
    await page.route('**/v1/organization/**', async (route) => {
      await page.waitForTimeout(700)
      await route.continue()
    })
    await page.reload()
    await page.getByLabel(/balance falls below/).waitFor()
    await poll(async () => (await page.evaluate(() => scrollY)) === 250)
    await page.unroute('**/v1/organization/**')
    await page.setViewportSize({ width: 1280, height: 860 })
  })

  step('pages outside of the console have the sides of the header, also on a phone', async () => {
    const visitor = (await service.open()).page
    for (const width of [390, 1280]) {
      await visitor.setViewportSize({ width, height: 800 })
      for (const path of ['/v1/ogc?f=html', '/problems/not-found']) {
        await visitor.goto(service.url + path)
        const left = (selector: string) =>
          visitor.locator(selector).evaluate((element) => element.getBoundingClientRect().left)
        const first = width === 390 ? 'main h1' : '.doc > *:first-child'
        assert.equal(await left(first), await left('.brand'), `${path} at ${width}`)
      }
    }
    await visitor.context().close()
  })

  step('the link of a mail needs no session and a click', async () => {
    const visitor = (await service.open()).page
    await visitor.goto(`${service.url}/unsubscribe#wrong`)
    await visitor.getByRole('button', { name: 'Get no more of them' }).click()
    await visitor.getByRole('alert').waitFor()
  })
})
