import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { needs } from '../../scripts/test-run/needs.ts'
import { check } from './check-accessibility.ts'
import { parcelsGeojson } from './parcels.ts'
import { ADMINISTRATOR, startConsole, type TestConsole } from './test-console.ts'
import { chooseAction, navigate, poll } from './test-page-actions.ts'

needs('chromium', 'processes')

const DOCS = readdirSync(join(import.meta.dirname, '..', '..', 'docs'))
  .filter((name) => name.endsWith('.md') && name !== 'index.md')
  .map((name) => `/docs/${name.replace(/\.md$/, '')}`)

describe('axe finds nothing in both themes, and nothing is too wide', { concurrency: 1 }, () => {
  let service: TestConsole
  let page: Page
  let key = ''

  before(async () => {
    service = await startConsole()
    // The software renderer needs a time that grows with the map's size.
    page = (await service.open({ bypassCSP: true, viewport: { width: 1000, height: 700 } })).page
    const bearer = page.waitForRequest(/auth\/me/).then((request) => request.headerValue('authorization'))
    await service.signIn(page, ADMINISTRATOR)
    key = await prepare(service.url, (await bearer)!)
    // The page remembers what it read before.
    await page.reload()
  })
  after(() => service.close())

  interface TestedPage {
    path: string
    /** A text that the finished page has. */
    shows: string
    /** Whether its map is drawn. */
    hasMap?: boolean
    act?: () => Promise<void>
  }
  const pages: Record<string, TestedPage> = {
    start: { path: '/', shows: 'Recently updated' },
    'getting started': { path: '/getting-started', shows: 'Waiting for the first request of this key…' },
    account: {
      path: '/account',
      shows: 'Download my data',
      act: async () => {
        await page.getByRole('button', { name: 'Close the account' }).click()
        await page.getByLabel('Type your email address to confirm').waitFor()
      },
    },
    catalog: { path: '/datasets', shows: '1 dataset' },
    'a chosen facet': { path: '/datasets?kind=Points', shows: 'Show all' },
    dataset: { path: '/datasets/parcels', shows: '60 rows' },
    'a filtered dataset': {
      // At a deeper zoom the map would also load the names of all towns, which does not change the page.
      path: '/datasets/parcels?filter=area%20%3E%3D%20105&color=area&selected=3&view=5.5,52.3,3.2',
      shows: '50 features in view',
      hasMap: true,
      act: async () => {
        await page.getByRole('button', { name: 'Edit as CQL2' }).click()
        await page
          .getByRole('region', { name: 'Attributes' })
          .getByText('Owner 2', { exact: true })
          .first()
          .waitFor()
      },
    },
    charts: {
      path: '/datasets/parcels?tab=charts',
      shows: 'Add a chart of',
      act: async () => {
        const figure = page.getByRole('figure')
        await figure.first().getByRole('img').waitFor()
        await figure
          .first()
          .getByRole('button', { name: /^Change/ })
          .click()
        await figure
          .nth(1)
          .getByRole('button', { name: /^Table/ })
          .click()
        await figure.nth(1).getByRole('rowheader').first().waitFor()
      },
    },
    code: { path: '/datasets/parcels?tab=code&filter=area%20%3E%3D%20105', shows: 'The rows that match' },
    downloads: {
      path: '/datasets/parcels?tab=download&filter=area%20%3E%3D%20105',
      shows: 'The filtered rows',
    },
    columns: { path: '/datasets/parcels?tab=columns', shows: 'Along the border.' },
    versions: { path: '/datasets/parcels?tab=versions', shows: 'First version' },
    'editing a dataset': {
      path: '/administration/datasets',
      shows: 'Who sees it',
      act: async () => {
        await chooseAction(page, 'parcels', 'Edit')
        await page.getByText('Columns', { exact: true }).click()
        await page.getByLabel('Unit of area').waitFor()
      },
    },
    'the finder, by the name of a column and by an action': {
      path: '/organization/members',
      shows: 'Owner everything',
      act: async () => {
        await page.keyboard.press('Control+k')
        const field = page.getByRole('combobox')
        await field.fill('built')
        await page.getByRole('option', { name: /Dataset$/ }).waitFor()
        await check(page)
        await field.fill('create a key')
        await page.keyboard.press('Enter')
        await page.getByRole('dialog').getByLabel('Name').waitFor()
        assert.equal(new URL(page.url()).search, '')
      },
    },
    keys: { path: '/keys', shows: 'Town map' },
    'creating a key': {
      path: '/keys',
      shows: 'Town map',
      act: async () => {
        await page.getByRole('button', { name: 'Create a personal key' }).click()
        await page.getByLabel('Read').selectOption('some')
      },
    },
    'a secret': {
      path: '/keys',
      shows: 'Town map',
      act: async () => {
        await page.getByRole('button', { name: 'Create a personal key' }).click()
        await page.getByLabel('Name').fill('For the test')
        await page.getByRole('button', { name: 'Create the key' }).click()
        await page.getByLabel('I have stored the secret').check()
      },
    },
    'a key that does not exist': { path: '/keys/none', shows: 'There is no such key' },
    members: { path: '/organization/members', shows: 'Owner everything' },
    'the menu of a member': {
      path: '/organization/members',
      shows: 'Owner everything',
      act: () => page.getByRole('button', { name: /^Actions for/ }).click(),
    },
    'the permissions of a member': {
      path: '/organization/members',
      shows: 'Owner everything',
      act: () => page.getByRole('button', { name: /permissions of/ }).click(),
    },
    access: { path: '/organization/access', shows: 'No requests yet' },
    usage: { path: '/organization/usage', shows: 'By dataset' },
    credits: { path: '/organization/credits', shows: '+10' },
    events: { path: '/organization/events', shows: 'Key created' },
    webhooks: { path: '/organization/webhooks', shows: 'No webhooks yet' },
    'a new webhook': {
      path: '/organization/webhooks',
      shows: 'No webhooks yet',
      act: async () => {
        await page.getByRole('button', { name: 'Create a webhook' }).click()
        await page.getByLabel('Address').waitFor()
      },
    },
    notices: { path: '/organization/notices', shows: 'Notices by mail' },
    'fewer notices': { path: '/unsubscribe#x', shows: 'Get no more of them' },
    dashboard: { path: '/administration', shows: 'Top organizations' },
    requests: { path: '/administration/requests', shows: 'No open requests' },
    'an organization': {
      path: '/administration/organizations',
      shows: 'Maps and GIS',
      act: async () => {
        await page.getByRole('table').getByRole('link').first().click()
        await page.getByRole('cell', { name: '+10' }).waitFor()
      },
    },
    'a user': {
      path: '/administration/users',
      shows: 'Last sign-in',
      act: async () => {
        await page.getByRole('link', { name: ADMINISTRATOR }).click()
        await page.getByText('Signed in').first().waitFor()
      },
    },
    organizations: { path: '/administration/organizations', shows: 'Maps and GIS' },
    users: { path: '/administration/users', shows: 'Last sign-in' },
    'platform keys': { path: '/administration/keys', shows: 'Platform keys' },
    'published datasets': { path: '/administration/datasets', shows: 'Who sees it' },
    jobs: { path: '/administration/jobs', shows: 'Done' },
    addresses: { path: '/administration/addresses', shows: 'Flood' },
    'platform events': { path: '/administration/events', shows: 'Address blocked' },
    publish: { path: '/administration/publish', shows: 'Drop a file here' },
    invitation: { path: '/invitation#none', shows: 'This invitation cannot be used' },
    'an unknown address': { path: '/datasets/none', shows: 'Search for it' },
    'sign-in by link': { path: '/sign-in#none', shows: 'You are signed in already.' },
  }

  for (const [name, { path, shows, hasMap = false, act }] of Object.entries(pages)) {
    test(name, async () => {
      // Leaves the page before, so that its dialogs close and no text of it is taken for the next.
      await navigate(page, '/none')
      await page.getByText('There is nothing at this address').waitFor()
      await page.evaluate((isDrawn) => Object.assign(window, { areMapsDrawn: isDrawn }), hasMap)
      await navigate(page, path)
      await page.getByText(shows).first().waitFor()
      await act?.()
      await check(page)
    })
  }

  test('the bar takes one line, and the page behind a dialog keeps its place and does not scroll', async () => {
    await navigate(page, '/keys')
    await page.getByText('Town map').waitFor()
    const bar = (await page.locator('.bar').boundingBox())!
    assert.ok(bar.height < 60 && bar.width === 1000, JSON.stringify(bar))
    const links = await page.locator('.bar nav a').all()
    const tops = await Promise.all(links.map(async (link) => (await link.boundingBox())!.y))
    assert.equal(new Set(tops).size, 1, `the links are at ${tops}`)
    // On a phone the menu scrolls on its one line, and the link of the page is in view.
    await page.setViewportSize({ width: 390, height: 700 })
    await navigate(page, '/account')
    await page.getByText('Download my data').waitFor()
    const menu = (await page.locator('.bar nav').boundingBox())!
    const current = (await page.locator('.bar nav [aria-current]').boundingBox())!
    assert.ok(menu.height < 45, `the menu is ${menu.height} pixels high`)
    assert.ok(
      current.x >= menu.x && current.x + current.width <= menu.x + menu.width,
      JSON.stringify(current),
    )
    await page.setViewportSize({ width: 1000, height: 700 })
    await navigate(page, '/keys')
    await page.getByText('Town map').waitFor()
    await page.getByRole('button', { name: 'Create a personal key' }).click()
    await page.getByRole('dialog').waitFor()
    const overflow = await page.evaluate(() => getComputedStyle(document.documentElement).overflowY)
    assert.equal(overflow, 'hidden')
    assert.deepEqual(await page.locator('.bar').boundingBox(), bar)
    await page.keyboard.press('Escape')
  })

  test('the check itself reports violations, also of one element among equal ones in one theme', async () => {
    await page.goto(`${service.url}/keys`)
    await page.getByText('Town map').waitFor()
    await page.evaluate(() => document.body.append(document.createElement('button')))
    await assert.rejects(check(page), /light at .*button-name/s)
    await page.evaluate(() => {
      const paragraphs = Array.from({ length: 9 }, (_, index) => `<p class="p${index}">Some text</p>`)
      const style = 'p[class] { color: #000; background: #fff }'
      const dark = '@media (prefers-color-scheme: dark) { p.p7 { color: #ccc } }'
      document.querySelector('main')!.innerHTML = `<h1>Texts</h1>${paragraphs.join('')}`
      document.body.lastElementChild!.outerHTML = `<style>${style} ${dark}</style>`
    })
    await assert.rejects(check(page), /dark at .*color-contrast: <p class=\\?"p7\\?"/s)
  })

  test('a key with its usage', async () => {
    await page.goto(`${service.url}/keys`)
    await page.getByRole('link', { name: 'Town map' }).click()
    await page.getByText('No calls in this period').waitFor()
    await check(page)
    const items = `${service.url}/v1/ogc/collections/parcels/items?limit=1`
    assert.equal((await fetch(items, { headers: { 'x-api-key': key } })).status, 200)
    await poll(async () => {
      await page.reload()
      const totals = page.locator('[data-usage-totals]')
      await totals.waitFor()
      return (await totals.textContent())!.startsWith('1 call')
    })
    await page.locator('.chart canvas').waitFor()
    await check(page)
    await page.getByRole('button', { name: 'Revoke' }).click()
    await check(page)
  })

  for (const path of [
    '/docs',
    ...DOCS,
    '/docs/api',
    '/docs/api/features',
    '/problems/not-found',
    '/status',
    '/embed/parcels',
    '/embed/none',
    '/v1/ogc?f=html',
    '/v1/ogc/conformance?f=html',
    '/v1/ogc/api?f=html',
    '/v1/ogc/collections?f=html',
    '/v1/ogc/collections/parcels?f=html',
    '/v1/ogc/collections/parcels/items?f=html',
    '/v1/ogc/collections/parcels/items/3?f=html',
    '/v1/ogc/collections/parcels/queryables?f=html',
    '/v1/ogc/collections/parcels/schema?f=html',
    '/v1/records?f=html',
    '/v1/records/collections/datasets?f=html',
    '/v1/records/collections/datasets/items?f=html',
    '/v1/records/collections/datasets/items/parcels?f=html',
  ]) {
    test(`the page ${path}`, async () => {
      // Browsers send the key of OGC pages by HTTP Basic; as a header it needs no challenge.
      await page.setExtraHTTPHeaders(path.startsWith('/v1/ogc') ? { 'x-api-key': key } : {})
      await page.goto(service.url + path)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      if (path === '/docs/api/features') await page.getByText('Try it').first().click()
      if (path === '/embed/parcels') await page.getByRole('status').waitFor()
      await check(page, { isCut: true })
    })
  }

  test('sign-in', async () => {
    const { page, context } = await service.open({ bypassCSP: true })
    await page.goto(`${service.url}/sign-in`)
    await page.getByLabel('Email address').fill('somebody@example.org')
    await check(page)
    await page.getByRole('button', { name: 'Send the link' }).click()
    await page.getByRole('heading', { name: 'Check your email' }).waitFor()
    await check(page)
    await page.goto(`${service.url}/datasets/parcels`)
    await page.getByText('The free sample', { exact: true }).waitFor()
    await check(page)
    await context.close()
  })
})

/** Creates a dataset, add-ons, credits and keys, so that no page is empty. */
async function prepare(url: string, authorization: string): Promise<string> {
  const send = async (method: string, path: string, body: unknown) => {
    const answer = await fetch(url + path, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    assert.ok(answer.ok, `${method} ${path} answered ${answer.status}`)
    return answer.status === 204 ? null : answer.json()
  }
  const { organization } = await (await fetch(`${url}/v1/auth/me`, { headers: { authorization } })).json()
  await send('PATCH', `/v1/admin/organizations/${organization.id}`, { addOns: ['API_ACCESS', 'GIS_ACCESS'] })
  await send('POST', `/v1/admin/organizations/${organization.id}/credits`, { add: 10 })
  const { secret } = await send('POST', `/v1/api-keys/organization/${organization.id}`, {
    name: 'Town map',
    permissions: ['read'],
  })
  await send('POST', '/v1/admin/address-blocks', { network: '192.0.2.0/24', reason: 'Flood' })
  const path = `/v1/dataset/parcels?filename=parcels.geojson&keywords=${'ownership'.repeat(10)}`
  const job = await send('PUT', path, parcelsGeojson(60))
  for (let state = ''; state !== 'done'; ) {
    const answer = await fetch(`${url}/v1/jobs/${job.id}`, { headers: { authorization } })
    state = (await answer.json()).state
    assert.notEqual(state, 'failed')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  await send('PATCH', '/v1/dataset/parcels', {
    description:
      'Parcels of a *town*:\n\n- with [owners](https://example.org)\n\n| a | b |\n|---|---|\n| 1 | 2 |',
    license: 'CC-BY-4.0',
    contact: 'parcels@example.org',
    citation: `Parcels (2026). ${'https://doi.org/10.1234/'.repeat(4)}`,
    columns: { area: { title: 'Area', unit: 'm²', description: 'Along the border.' } },
  })
  return secret
}
