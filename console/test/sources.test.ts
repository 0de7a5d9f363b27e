import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe } from 'node:test'
import type { Page } from 'playwright-core'
import { needs } from '../../scripts/test-run/needs.ts'
import { check } from './check-accessibility.ts'
import { explorerFlow, openExplorer, type TestExplorer } from './explorer-fixture.ts'

needs('chromium', 'processes')

const PICTURES = process.env['WAYLEAVE_TEST_PICTURES']

/** A source whose content the test changes. */
const rows = (names: string[]) => `code,name\n${names.map((name, i) => `c${i},${name}`).join('\n')}\n`

describe('the source of a dataset in the console', { concurrency: 1 }, () => {
  let explorer: TestExplorer
  let server: Server
  let address = ''
  let content: string | null = rows(['Aarau', 'Basel', 'Chur'])

  before(async () => {
    server = createServer((_request, response) => {
      if (content === null) response.writeHead(410).end()
      else response.end(content)
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/places.csv`
    explorer = await openExplorer({ WAYLEAVE_ALLOW_INTERNAL_ADDRESSES: 'true' })
    await explorer.publish('places', 'places.csv', rows(['Aarau', 'Basel']), {
      idColumn: 'code',
      title: 'Places',
    })
  })
  after(async () => {
    server.close()
    await explorer.close()
    assert.deepEqual(explorer.service.faults, [])
  })
  const picture = async (page: Page, name: string) => {
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true })
  }

  explorerFlow(
    'a publisher sets the source, runs it, and sees what changed',
    () => explorer,
    async () => {
      const { page } = explorer
      await explorer.openWithoutMap('places', { tab: 'versions' })
      await page.getByRole('button', { name: 'Set a source' }).click()
      await page.getByLabel('Address').fill('ftp://example.org/a')
      await page.getByLabel('Column of the ids').fill('code')
      await page.getByLabel('How often').fill('')
      await page.getByRole('button', { name: 'Save the source' }).click()
      await page
        .getByText(/begins with https/)
        .first()
        .waitFor()
      await picture(page, 'source-form')
      await page.getByLabel('Address').fill(address)
      await page.getByRole('button', { name: 'Save the source' }).click()
      await page.getByRole('button', { name: 'Run now' }).click()
      await page.getByText('Published version 2.').waitFor()
      await page.getByText('Version 2: 3 rows').waitFor()
      await page.getByRole('button', { name: 'Run now' }).click()
      await page.getByText('Nothing has changed.').waitFor()
      content = null
      await page.getByRole('button', { name: 'Run now' }).click()
      await page.getByText('Failed once').waitFor()
      // Counted in the background: the page is opened again until it is there.
      for (;;) {
        await explorer.openWithoutMap('places', { tab: 'versions' })
        await page.getByText('Version 2: 3 rows').waitFor()
        if ((await page.getByText('+1 −0 ~0').count()) > 0) break
      }
      await picture(page, 'source-light')
      await check(page)
      if (!PICTURES) return
      await page.emulateMedia({ colorScheme: 'dark' })
      await picture(page, 'source-dark')
      await page.setViewportSize({ width: 390, height: 800 })
      await picture(page, 'source-phone-dark')
    },
  )

  explorerFlow(
    'a new dataset is published from an address, after what was wrong is changed',
    () => explorer,
    async () => {
      const { page, service } = explorer
      content = 'hello world'
      await page.goto(`${service.url}/administration/publish`)
      // The form for files has fields of the same names.
      const card = page.getByRole('region', { name: 'From an address' })
      await card.getByRole('button', { name: 'Publish from an address' }).click()
      await card.getByLabel('Name of the dataset').fill('towns')
      await card.getByLabel('Address').fill(`${address.replace('.csv', '.txt')}?year=2026`)
      await card.getByLabel('How often').fill('CRON_TZ=Europe/Vienna 15 3 * * *')
      await card.getByRole('button', { name: 'Save the source' }).click()
      // As the form calls it, and not as the command line does.
      await card.getByText(/one column.* with “Format” csv/).waitFor()
      await card.getByRole('button', { name: 'Change the source' }).click()
      content = rows(['Aarau', 'Basel'])
      await card.getByText('How it is read').click()
      await card.getByLabel('Column types').fill('name=text')
      await check(page)
      await card.getByRole('button', { name: 'Save the source' }).click()
      await card.getByText('Published towns.').waitFor()
      await page.getByRole('link', { name: 'See the dataset' }).click()
      await page.getByRole('heading', { name: 'towns' }).first().waitFor()
    },
  )
})
