import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { needs } from '../../scripts/test-run/needs.ts'
import { CLIENT, openTestProvider, type TestProvider } from '../../scripts/test-servers/test-provider.ts'
import { startConsole, type TestConsole } from './test-console.ts'

needs('chromium', 'processes')

/** Signs in at the provider's own pages. */
async function signInAt(page: Page, account: string) {
  await page.getByPlaceholder('Enter any login').fill(account)
  await page.getByPlaceholder('and password').fill('x')
  await page.getByRole('button', { name: 'Sign-in' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
}

/** Single sign-on, several organizations and the end of an account, on one server, in order. */
describe('accounts', { concurrency: 1 }, () => {
  let provider: TestProvider
  let service: TestConsole
  let redirectUri = 'http://127.0.0.1:1/sign-in'

  before(async () => {
    provider = await openTestProvider(() => redirectUri)
    service = await startConsole({
      WAYLEAVE_SIGN_IN: 'both',
      WAYLEAVE_OIDC_ISSUER: provider.issuer,
      WAYLEAVE_OIDC_CLIENT_ID: CLIENT.oidcClientId,
      WAYLEAVE_OIDC_CLIENT_SECRET: CLIENT.oidcClientSecret,
    })
    redirectUri = `${service.url}/sign-in`
    provider.rotateKeys()
    provider.accounts.set('ada', { email: 'ada@example.org', email_verified: true })
    provider.accounts.set('eve', { email: 'ada@example.org', email_verified: false })
  })
  after(async () => {
    await service.close()
    await provider.close()
    assert.deepEqual(service.faults, [], 'no page broke, and none broke the Content-Security-Policy')
  })

  test('single sign-on leads to the page that asked for it, and leaves no code in the history', async () => {
    const { page, context } = await service.open()
    await page.goto(`${service.url}/keys`)
    await page.getByRole('button', { name: 'Use single sign-on' }).click()
    await signInAt(page, 'ada')
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor()
    assert.equal(page.url(), `${service.url}/keys`)
    await page.getByText('ada@example.org').waitFor()
    // The session survives a reload: the refresh token is in a cookie that scripts cannot read.
    await page.reload()
    await page.getByText('ada@example.org').waitFor()
    const cookies = await context.cookies(`${service.url}/v1/auth/refresh`)
    const session = cookies.find(({ name }) => name === 'wayleave_refresh')!
    assert.deepEqual([session.httpOnly, session.sameSite], [true, 'Strict'])
    assert.ok(!cookies.some(({ name }) => name === 'wayleave_sign_on'))
    await page.goBack()
    assert.ok(!page.url().includes('code='), page.url())
    await context.close()
  })

  test('a refused person sees why, and can sign in by mail', async () => {
    const { page, context } = await service.open()
    await page.goto(`${service.url}/sign-in`)
    await page.getByRole('button', { name: 'Use single sign-on' }).click()
    await signInAt(page, 'eve')
    await page.getByText('The provider has not verified the mail address').waitFor()
    // The response of another browser.
    await page.goto(`${service.url}/sign-in?code=stolen&state=other`)
    await page.getByText('The sign-in did not begin in this browser').waitFor()
    assert.equal(page.url(), `${service.url}/sign-in`)
    await page.getByRole('link', { name: 'Sign in again' }).click()
    provider.failure = 'error'
    await page.getByRole('button', { name: 'Use single sign-on' }).click()
    // The metadata is still known, so the browser goes to the provider, which does not respond.
    await page.waitForURL((url) => url.origin === provider.issuer)
    provider.failure = 'none'
    await service.signIn(page, 'eve@example.org')
    await context.close()
  })

  test('a member of two organizations switches, and no tab acts for the wrong one', async () => {
    const { page: bob, context: bobs } = await service.open()
    const { page: first, context } = await service.open()
    await service.signIn(first, 'cyd@example.org')
    await service.signIn(bob, 'bob@example.org')
    await bob.goto(`${service.url}/organization/members`)
    await bob.getByRole('button', { name: 'Invite a colleague' }).click()
    await bob.getByLabel('Email address').fill('cyd@example.org')
    await bob.getByRole('button', { name: 'Send the invitation' }).click()
    await first.goto((await service.mailedLink('cyd@example.org')).link)
    await first.getByText("You stay a member of cyd's organization").waitFor()
    await first.getByRole('button', { name: /^Join / }).click()
    await first.getByRole('heading', { name: "bob's organization" }).waitFor()

    const second = await context.newPage()
    await second.goto(`${service.url}/account`)
    const current = (page: Page, name: string) =>
      page
        .getByRole('combobox', { name: 'Organization' })
        .and(page.locator(`:has(option:checked:text-is("${name}"))`))
        .waitFor()
    await current(second, "bob's organization")
    await first.getByRole('combobox', { name: 'Organization' }).selectOption("cyd's organization")
    await first.getByRole('heading', { name: 'Getting started' }).waitFor()
    await current(first, "cyd's organization")
    await current(second, "cyd's organization")
    await second.getByRole('row', { name: /cyd's organization Current/ }).waitFor()

    // The key of an assistant is one in the organization that the page names, and a switch does not lose its request.
    const registered = await fetch(`${service.url}/oauth/register`, {
      method: 'POST',
      body: JSON.stringify({ client_name: 'Desk assistant', redirect_uris: ['http://127.0.0.1/'] }),
    })
    const asked = new URLSearchParams({
      client_id: (await registered.json()).client_id,
      redirect_uri: 'http://127.0.0.1/',
      response_type: 'code',
      code_challenge: 'c'.repeat(43),
      code_challenge_method: 'S256',
    })
    await second.goto(`${service.url}/connect?${asked}`)
    await second.getByText("and act for cyd's organization").waitFor()
    await second.getByRole('combobox', { name: 'Organization' }).selectOption("bob's organization")
    await second.getByText("and act for bob's organization").waitFor()
    await second.getByRole('combobox', { name: 'Organization' }).selectOption("cyd's organization")
    await second.getByText("and act for cyd's organization").waitFor()
    await current(first, "cyd's organization")

    // A tab that was not told notices it with its next token, before it does anything.
    const [request] = await Promise.all([
      first.waitForRequest('**/v1/api-keys/**'),
      first.goto(`${service.url}/keys`),
    ])
    const headers = { authorization: request.headers()['authorization']!, 'content-type': 'application/json' }
    const { data } = await (await fetch(`${service.url}/v1/organizations`, { headers })).json()
    const organizationId = data.find(({ name }: { name: string }) => name === "bob's organization").id
    const body = JSON.stringify({ organizationId })
    const switched = await fetch(`${service.url}/v1/auth/switch`, { method: 'POST', headers, body })
    assert.equal(switched.status, 200)
    let refused = 0
    await first.route('**/v1/organization/*/members', (route) =>
      refused++ === 0 ? route.fulfill({ status: 401, body: '{}' }) : route.continue(),
    )
    await first.getByRole('link', { name: 'Organization', exact: true }).click()
    await first.getByRole('heading', { name: "bob's organization" }).waitFor()
    await current(first, "bob's organization")
    await context.close()
    await bobs.close()
  })

  test('a user reads their data and closes the account', async () => {
    const { page, context } = await service.open()
    await service.signIn(page, 'dan@example.org')
    await page.getByRole('link', { name: 'Account' }).click()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download my data' }).click(),
    ])
    const data = JSON.parse(readFileSync(await file.path(), 'utf8'))
    assert.equal(data.user.email, 'dan@example.org')
    await page.getByRole('button', { name: 'Close the account' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Close the account' }).click()
    // Nothing happens before the address is typed.
    await dialog.getByLabel('Type your email address to confirm').fill('dan@example.com')
    await dialog.getByRole('button', { name: 'Close the account' }).click()
    await dialog.getByLabel('Type your email address to confirm').fill('dan@example.org')
    await dialog.getByRole('button', { name: 'Close the account' }).click()
    await page.waitForURL(`${service.url}/`)
    await page.getByRole('link', { name: 'Sign in' }).first().waitFor()
    await page.reload()
    await page.getByRole('link', { name: 'Sign in' }).first().waitFor()
    await context.close()
  })
})
