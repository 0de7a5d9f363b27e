import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Page } from 'playwright-core'
import { needs } from '../../scripts/test-run/needs.ts'
import { check } from './check-accessibility.ts'
import { startConsole, type TestConsole } from './test-console.ts'
import { stepsOn } from './test-page-actions.ts'

needs('chromium', 'processes')

const OWNER = 'ada@example.org'
const COLLEAGUES = ['bob@example.org', 'cyd@example.org']

/** Actions on several rows of a list at a time, on one server, in order. */
describe('several rows', { concurrency: 1 }, () => {
  let service: TestConsole
  let page: Page
  let authorization = ''
  let organizationId = ''

  const send = async (bearer: string, method: string, path: string, body?: object) => {
    const response = await fetch(service.url + path, {
      method,
      headers: { authorization: bearer, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    assert.ok(response.ok, `${method} ${path}: ${response.status}`)
    return response.json()
  }

  /** The states of the organization's keys by their names. */
  const keys = async () => {
    const { data } = await send(authorization, 'GET', `/v1/api-keys/organization/${organizationId}`)
    return Object.fromEntries(
      data.map(({ name, status }: { name: string; status: string }) => [name, status]),
    )
  }

  const tokenOf = (link: string) => new URL(link).hash.slice(1).split('~')[0]!

  const join = async (email: string) => {
    await send(authorization, 'POST', `/v1/organization/${organizationId}/invitations`, { email })
    const invitation = tokenOf((await service.mailedLink(email)).link)
    await send('', 'POST', '/v1/auth/magic-link', { email })
    const token = tokenOf((await service.mailedLink(email)).link)
    const { accessToken } = await send('', 'POST', '/v1/auth/token', { token })
    await send(`Bearer ${accessToken}`, 'POST', '/v1/invitations/accept', { token: invitation })
  }

  before(async () => {
    service = await startConsole()
    page = (await service.open({ bypassCSP: true })).page
    const bearer = page.waitForRequest(/auth\/me/).then((request) => request.headerValue('authorization'))
    await service.signIn(page, OWNER)
    authorization = (await bearer)!
    organizationId = (await send(authorization, 'GET', '/v1/auth/me')).organization.id
    for (const name of ['Old map', 'Old script', 'Town map']) {
      const path = `/v1/api-keys/organization/${organizationId}`
      await send(authorization, 'POST', path, { name, permissions: ['read'] })
    }
    for (const email of COLLEAGUES) await join(email)
  })
  after(async () => {
    await service.close()
    assert.deepEqual(service.faults, [])
  })

  const { step, picture } = stepsOn(() => page)
  const dialog = () => page.getByRole('dialog')

  step(
    'keys are revoked after one confirmation that names them, and the result of each is shown',
    async () => {
      await page.goto(`${service.url}/keys`)
      await page.getByRole('button', { name: 'Select several Keys of' }).click()
      for (const name of ['Old map', 'Old script']) await page.getByLabel(`Select ${name}`).check()
      await page.getByText('2 selected').waitFor()
      await check(page)
      await picture('several-keys')
      await page.getByRole('button', { name: 'Revoke 2 keys' }).click()
      assert.match((await dialog().getByRole('list').textContent())!, /Old script.*Old map/)
      assert.deepEqual(Object.values(await keys()), ['active', 'active', 'active'])

      // The first one fails; the others are not held up by it, and it can be tried again.
      let isFirst = true
      await page.route('**/revoke', async (route) => {
        const body = { title: 'Busy', status: 503, code: 'busy', detail: 'The service is busy.' }
        const json = { status: 503, contentType: 'application/problem+json', body: JSON.stringify(body) }
        await (isFirst ? route.fulfill(json) : route.continue())
        isFirst = false
      })
      await page.getByRole('button', { name: 'Revoke 2 keys for good' }).click()
      await dialog().getByText('Revoked: 1 of 2.').waitFor()
      await dialog().getByText('The service is busy.').waitFor()
      await dialog().getByRole('button', { name: 'Close' }).waitFor()
      assert.deepEqual(await keys(), { 'Old map': 'revoked', 'Old script': 'active', 'Town map': 'active' })
      await check(page)
      await page.getByRole('button', { name: 'Try the rest again' }).click()
      await dialog().getByText('Revoked: 2 of 2.').waitFor()
      await page.unroute('**/revoke')
      await dialog().getByRole('button', { name: 'Close' }).click()
      await page.getByText('selected').waitFor({ state: 'detached' })
      assert.deepEqual(await keys(), { 'Old map': 'revoked', 'Old script': 'revoked', 'Town map': 'active' })
      // One key is left that can be revoked, on its own page.
      assert.equal(await page.getByRole('button', { name: 'Select several' }).count(), 0)
    },
  )

  step('a stop keeps what was not begun', async () => {
    await page.goto(`${service.url}/organization/members`)
    await page.getByRole('button', { name: 'Select several members' }).click()
    assert.ok(await page.getByLabel(`Select ${OWNER}`).isDisabled())
    await page.getByRole('button', { name: 'Select all 2' }).click()
    await page.getByRole('button', { name: 'Remove 2 members' }).click()
    await check(page)
    const { promise: isStopped, resolve: stop } = Promise.withResolvers<void>()
    await page.route('**/members/*', async (route) => {
      await isStopped
      await route.continue()
    })
    await dialog().getByRole('button', { name: 'Remove 2 members' }).click()
    await dialog().getByText('Running').waitFor()
    await page.keyboard.press('Escape')
    stop()
    await dialog().getByText('Removed: 1 of 2.').waitFor()
    await dialog().getByRole('button', { name: 'Close' }).click()
    await page.getByRole('row', { name: COLLEAGUES[0]! }).waitFor({ state: 'detached' })
    await page.getByRole('row', { name: COLLEAGUES[1]! }).waitFor()
  })
})
