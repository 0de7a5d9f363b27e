import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { needs } from '../../scripts/test-run/needs.ts'
import { openExplorer, type TestExplorer } from './explorer-fixture.ts'
import { parcelsGeojson } from './parcels.ts'
import { drawMaps, poll, shownOn } from './test-page-actions.ts'

needs('chromium', 'processes')

const PICTURES = process.env['WAYLEAVE_TEST_PICTURES']

/** End-to-end tests of who sees a dataset, on one server, run in order. */
describe('open and private datasets in the console', { concurrency: 1 }, () => {
  let explorer: TestExplorer
  let visitor: Page

  before(async () => {
    explorer = await openExplorer()
    visitor = (await explorer.service.open({ viewport: { width: 1000, height: 640 } })).page
    for (const [table, visibility] of [
      ['parcels', 'open'],
      ['salaries', 'private'],
    ] as const) {
      const options = { visibility, title: table === 'parcels' ? 'Parcels' : 'Salaries', license: 'CC0-1.0' }
      await explorer.publish(table, 'a.geojson', parcelsGeojson(200), options)
      await explorer.tilesReady(table)
    }
  })
  after(async () => {
    await explorer.close()
    // The page of a dataset that does not exist for the visitor is a 404 by intention.
    assert.deepEqual(
      explorer.service.faults.filter((fault) => !/404/.test(fault)),
      [],
    )
  })

  const step = (name: string, run: () => Promise<void>) =>
    test(name, async (t) => {
      try {
        await run()
      } catch (error) {
        for (const page of [explorer.page, visitor]) t.diagnostic(await shownOn(page))
        throw error
      }
    })
  const picture = async (page: Page, name: string) => {
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true })
  }

  step('signed out, all rows of an open dataset are shown, downloaded and embedded', async () => {
    await visitor.goto(`${explorer.service.url}/datasets/parcels`)
    await visitor.getByText('Open data').first().waitFor()
    await visitor
      .getByText(/200 rows/)
      .first()
      .waitFor()
    assert.equal(await visitor.getByText('You see a free sample').count(), 0)
    await picture(visitor, 'open-signed-out')
    await visitor.getByRole('button', { name: 'Edit as CQL2' }).click()
    await visitor.getByLabel('Filter in CQL2').fill('area < 525')
    await visitor.getByRole('button', { name: 'Apply' }).click()
    await visitor.locator('.filter-count', { hasText: '50 of 200 rows' }).waitFor()
    await visitor.getByRole('tab', { name: 'Charts' }).click()
    await visitor.locator('.chart-card').first().waitFor()
    await picture(visitor, 'open-charts')
    await visitor.goto(`${explorer.service.url}/datasets/parcels?tab=download`)
    const downloading = visitor.waitForEvent('download')
    await visitor.getByRole('button', { name: 'Download CSV' }).click()
    await downloading
    await picture(visitor, 'open-download')
    await drawMaps(visitor)
    await visitor.goto(`${explorer.service.url}/embed/parcels`)
    await visitor.getByRole('link', { name: 'Parcels' }).waitFor()
    await visitor.locator('canvas').waitFor()
    await picture(visitor, 'open-embed')
    const filtered = visitor.waitForResponse((response) => /tiles.*filter=/.test(response.url()))
    await visitor.goto(`${explorer.service.url}/embed/parcels?filter=${encodeURIComponent('area < 525')}`)
    assert.equal((await filtered).status(), 200)
    // The legend of a frame tells what the map shows: nothing can be chosen in it.
    const half = new URLSearchParams({ filter: 'built = true', color: 'built' })
    await visitor.goto(`${explorer.service.url}/embed/parcels?${half}`)
    const entries = visitor.getByRole('region', { name: 'Legend: built' }).getByRole('listitem')
    await entries.filter({ hasText: '100' }).waitFor()
    assert.deepEqual(await entries.allTextContents(), ['true100'])
  })

  step('signed out, a private dataset leaves no trace', async () => {
    await visitor.goto(`${explorer.service.url}/datasets`)
    await visitor.getByRole('link', { name: 'Parcels' }).first().waitFor()
    assert.equal(await visitor.getByText('Salaries').count(), 0)
    const page = await visitor.goto(`${explorer.service.url}/datasets/salaries`)
    assert.ok(!(await page!.text()).includes('Salaries'))
    await visitor
      .getByText(/no dataset named/i)
      .first()
      .waitFor()
    await visitor.getByRole('main').getByRole('link', { name: 'Sign in' }).waitFor()
    assert.equal(await visitor.getByRole('button', { name: 'Try again' }).count(), 0)
    await picture(visitor, 'private-signed-out')
  })

  step('those who may change a dataset see and change who gets it beside its title', async () => {
    const { page, send } = explorer
    await explorer.openWithoutMap('salaries')
    await page.getByRole('button', { name: 'Private · Share' }).click()
    const { id } = await (await send('POST', '/v1/admin/organizations', { name: 'City of Utrecht' })).json()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Organization' }).fill('utrecht')
    await dialog.locator(`option[value="City of Utrecht (${id})"]`).waitFor({ state: 'attached' })
    await dialog.getByRole('combobox', { name: 'Organization' }).fill(`City of Utrecht (${id})`)
    await dialog.getByLabel('Download older versions').click()
    await dialog.getByLabel('Last day').fill('2090-01-31')
    await dialog.getByRole('button', { name: 'Give access' }).click()
    await dialog.getByRole('rowheader', { name: 'City of Utrecht' }).waitFor()
    await picture(page, 'sharing')
    await dialog.getByRole('button', { name: 'End the access of City of Utrecht' }).click()
    await dialog.getByText('No organization has been given access yet.').waitFor()
    await dialog.getByRole('radio', { name: /^Draft/ }).click()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Draft · Share' }).waitFor()
    await picture(page, 'draft')
  })

  step('an assistant asks for access, and gets a key that its user sees', async () => {
    const { page, service } = explorer
    const returned: URL[] = []
    const receiver = createServer((request, response) => {
      if (request.url!.startsWith('/callback')) returned.push(new URL(request.url!, 'http://127.0.0.1'))
      response.end('You may close this page.')
    }).listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    const redirect_uri = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/callback`
    try {
      const registered = await fetch(`${service.url}/oauth/register`, {
        method: 'POST',
        body: JSON.stringify({ client_name: 'Desk assistant', redirect_uris: [redirect_uri] }),
      })
      const { client_id } = await registered.json()
      const verifier = 'v'.repeat(43)
      const code_challenge = createHash('sha256').update(verifier).digest('base64url')
      const request = { client_id, redirect_uri, code_challenge, code_challenge_method: 'S256', state: 's' }
      const query = new URLSearchParams({ ...request, response_type: 'code' })
      await page.goto(`${service.url}/connect?${query}`)
      await page.getByRole('heading', { name: 'Desk assistant wants to read data for you' }).waitFor()
      await page.getByLabel('Only some').check()
      await page.getByLabel('Parcels').check()
      await picture(page, 'connect')
      await page.getByRole('button', { name: 'Allow' }).click()
      await page.getByText('You may close this page.').waitFor()
      const code = returned[0]!.searchParams.get('code')!
      const form = {
        grant_type: 'authorization_code',
        code,
        client_id,
        redirect_uri,
        code_verifier: verifier,
      }
      const token = await fetch(`${service.url}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams(form),
      })
      assert.equal(token.status, 200)
      await page.goto(`${service.url}/keys`)
      await page.getByRole('link', { name: 'Desk assistant' }).first().waitFor()
    } finally {
      receiver.close()
    }
  })

  step('publishers have a section for their datasets', async () => {
    const { page, send } = explorer
    const { organization } = await (await send('GET', '/v1/auth/me', undefined)).json()
    await send('PATCH', `/v1/admin/organizations/${organization.id}`, { publishing: true })
    await page.goto(`${explorer.service.url}/organization/data`)
    await page.getByText('Nothing is published yet').waitFor()
    await picture(page, 'data')
    await page.getByRole('link', { name: 'Publish a file' }).click()
    await poll(async () => page.url().endsWith('/organization/publish'))
    await page.getByText('Drop a file here').waitFor()
    await picture(page, 'publish')
  })
})
