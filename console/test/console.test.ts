import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { needs } from '../../scripts/test-run/needs.ts'
import { keepDownloading } from './keep-downloading.ts'
import { parcelsGeojson } from './parcels.ts'
import { seeUsage } from './see-usage.ts'
import { ADMINISTRATOR, startConsole, type TestConsole } from './test-console.ts'
import { chooseAction, drawMaps, drop, navigate, poll, shownOn, storedSecret } from './test-page-actions.ts'

needs('chromium', 'processes', 'tools')

const [USER, COLLEAGUE] = ['user@example.org', 'colleague@example.org']

/** End-to-end tests on one server, run in order: each test starts where the previous one ended. */
describe('the console', { concurrency: 1 }, () => {
  let service: TestConsole
  let admin: Page
  let user: Page
  let secret = ''

  before(async () => {
    service = await startConsole()
    admin = (await service.open()).page
    user = (await service.open()).page
  })
  after(async () => {
    await service.close()
    assert.deepEqual(service.faults, [], 'no page broke, and none broke the Content-Security-Policy')
  })

  /** After a failed step the others are skipped; the failure report has the text of the pages. */
  let broken = false
  const step = (name: string, tell: () => Promise<void>) =>
    test(name, async (t) => {
      if (broken) return t.skip('a step before it failed')
      broken = true
      try {
        await tell()
        broken = false
      } catch (error) {
        for (const page of [admin, user]) t.diagnostic(await shownOn(page))
        throw error
      }
    })

  const statusOf = async (path: string, key: string) =>
    (await fetch(service.url + path, { headers: { 'x-api-key': key } })).status
  const items = '/v1/ogc/collections/parcels/items?limit=3'

  step('a link of the outbox signs in on a click, and the session outlasts a reload', async () => {
    await service.signIn(admin, ADMINISTRATOR)
    await service.signIn(user, USER)
    await user.reload()
    await user.getByText(`You are signed in as ${USER}.`).waitFor()
    await user.getByRole('button', { name: 'Use the dark theme' }).click()
    await user.reload()
    await user.locator('html[data-theme=dark]').waitFor()
    // No secret: the mark only tells other pages that there is a session to ask for.
    assert.deepEqual(await user.evaluate(() => ({ ...localStorage })), { 'signed-in': '', theme: 'dark' })
    const stored = await user.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))
    assert.doesNotMatch(stored, /svc_|eyJ|token|refresh/i)
    const cookies = await user.context().cookies(`${service.url}/v1/auth/refresh`)
    assert.deepEqual(
      cookies.map(({ httpOnly, sameSite }) => ({ httpOnly, sameSite })),
      [{ httpOnly: true, sameSite: 'Strict' }],
    )
  })

  step('a code of the mail signs in on another device, and signing out holds for every tab', async () => {
    const { page, context } = await service.open()
    await page.goto(`${service.url}/keys`)
    await page.getByLabel('Email address').fill(USER)
    await page.getByRole('button', { name: 'Send the link' }).click()
    const { code } = await service.mailedLink(USER)
    // A reload keeps the form for the code, until another address is chosen.
    await page.reload()
    await page.getByText(`If ${USER} may sign in`).waitFor()
    await page.getByLabel('Code of six digits').fill(code)
    await page.getByRole('button', { name: 'Sign in' }).click()
    // Sign-in leads back to the page that was requested.
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor()
    assert.equal(await page.evaluate(() => sessionStorage.getItem('requested-mail')), null)
    const tab = await context.newPage()
    await tab.goto(`${service.url}/keys`)
    await tab.getByRole('heading', { name: 'Keys', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await tab.getByText('Your session has ended. Sign in again to go on.').waitFor()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    assert.equal(await page.getByText('Your session has ended').count(), 0)
    await tab.reload()
    await tab.getByRole('heading', { name: 'Sign in' }).waitFor()
    await context.close()
  })

  step('a wrong code is answered with the problem’s sentence and the request’s id', async () => {
    const { page, context } = await service.open()
    const demoRequests: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('demo')) demoRequests.push(request.url())
    })
    await page.goto(`${service.url}/sign-in`)
    await page.getByLabel('Email address').fill('stranger@example.org')
    await page.getByRole('button', { name: 'Send the link' }).click()
    await page.getByLabel('Code of six digits').fill('000000')
    await page.getByRole('button', { name: 'Sign in' }).click()
    const alert = page.getByRole('alert')
    await alert.getByText(/code/).first().waitFor()
    assert.match((await alert.textContent())!, /Request [\w-]{8,}/)
    assert.deepEqual(demoRequests, [], 'only a demo shows its mails')
    await page.getByRole('button', { name: 'Use another address, or send the email again' }).click()
    await page.reload()
    await page.getByLabel('Email address').waitFor()
    await context.close()
  })

  step('a link opened in a signed-in window leaves nothing of the user before', async () => {
    const { page, context } = await service.open()
    await service.signIn(page, 'first@example.org')
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ email: USER })
    await fetch(`${service.url}/v1/auth/magic-link`, { method: 'POST', headers, body })
    await page.goto((await service.mailedLink(USER)).link)
    await page.getByText('You are signed in already.').waitFor()
    await page.getByText('first@example.org').waitFor()
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText(`You are signed in as ${USER}.`).waitFor()
    assert.equal(await page.getByText('first@example.org').count(), 0)
    await context.close()
  })

  step('an administrator publishes a dropped file and reads the report', async () => {
    await admin.getByRole('link', { name: 'Administration' }).click()
    await admin.getByRole('link', { name: 'Publish' }).click()
    await drop(admin, 'Parcels.geojson', parcelsGeojson(60))
    assert.equal(await admin.getByLabel('Table', { exact: true }).inputValue(), 'parcels')
    await admin.getByLabel('Title').fill('Parcels of the town')
    await admin.getByText('Description, license, contact and price').click()
    await admin.getByLabel('Keywords, separated by commas').fill('land, owners')
    await admin.getByRole('button', { name: 'Publish', exact: true }).click()
    await admin.getByText(/version 1: 60 rows/).waitFor()
    await admin.getByText('owner (text), area (number), built (boolean)').waitFor()
  })

  step('a file that cannot be read is reported, and nothing is published', async () => {
    await admin.getByRole('link', { name: 'Publish', exact: true }).click()
    await admin.reload()
    const publish = admin.getByRole('button', { name: 'Publish', exact: true })
    await drop(admin, 'broken.geojson', '')
    await admin.getByText('This file is empty, so there is nothing to publish.').waitFor()
    assert.equal(await publish.count(), 0)
    await drop(admin, 'broken.geojson', '{"type":"FeatureCollection","features":[{"type":')
    // The browser scrolls to the faulty field, below the bar; the focus on the bar scrolls nothing.
    const size = admin.viewportSize()!
    await admin.setViewportSize({ width: size.width, height: 300 })
    await admin.getByLabel('Table', { exact: true }).fill('Broken')
    await publish.click()
    const bar = (await admin.getByRole('banner').boundingBox())!
    const label = (await admin.getByText('Table', { exact: true }).boundingBox())!
    assert.ok(label.y >= bar.y + bar.height, `${label.y} is below ${bar.y + bar.height}`)
    const before = await admin.evaluate(() => scrollY)
    assert.ok(before > 0)
    await admin.getByRole('banner').getByRole('link', { name: 'Datasets' }).focus()
    assert.equal(await admin.evaluate(() => scrollY), before)
    await admin.setViewportSize(size)
    await admin.getByLabel('Table', { exact: true }).fill('broken')
    await publish.click()
    await admin.getByText('Nothing was published.').waitFor()
    const answer = await fetch(`${service.url}/v1/dataset/broken`)
    assert.equal(answer.status, 404)
    await drop(admin, 'broken.txt', 'only words\nand no columns\n')
    await publish.click()
    await admin.getByRole('button', { name: 'Read it as a table of one column' }).waitFor()
    await admin.getByLabel('Table', { exact: true }).fill('parcels')
    await drop(admin, 'parcels.geojson', parcelsGeojson(2).replace(/"coordinates":\[+/, '$&500,500],['))
    await admin.getByRole('region', { name: 'What the file contains' }).waitFor()
    await publish.click()
    await admin.getByText('Nothing was changed: the current version is still served.').waitFor()
    const outcome = await admin.getByRole('region', { name: 'Progress' }).textContent()
    assert.match(outcome!, /1 row of the file cannot be published:Row 1: /)
    assert.equal(outcome!.match(/cannot be published/g)!.length, 1)
  })

  step('an administrator grants add-ons and credits, which the organization then has', async () => {
    await admin.getByRole('link', { name: 'Organizations' }).click()
    await admin.getByLabel('Search').fill('user')
    await chooseAction(admin, 'user', 'Change the add-ons')
    for (const addOn of ['File downloads', 'Maps and GIS', 'Older versions'])
      await admin.getByLabel(addOn).check()
    await admin.getByRole('button', { name: 'Save the add-ons' }).click()
    await chooseAction(admin, 'user', 'Change the credits')
    await admin.getByLabel('Credits', { exact: true }).fill('25')
    await admin.getByRole('button', { name: 'Add the credits' }).click()
    await admin.getByRole('cell', { name: '25', exact: true }).waitFor()
    await user.goto(`${service.url}/organization/credits`)
    await user.getByText('credits left').waitFor()
    await user.getByRole('cell', { name: '+25' }).waitFor()
    await user.getByText('Older versions').first().waitFor()
  })

  step('getting started ticks each step as it happens, down to a working curl', async () => {
    await user.goto(`${service.url}/datasets`)
    await user.getByRole('link', { name: 'Wayleave' }).click()
    await user.getByRole('link', { name: 'Create a key' }).click()
    await user.getByRole('button', { name: 'Create a personal key' }).click()
    await user.getByLabel('Name').fill('My notebook')
    await user.getByRole('button', { name: 'Create the key' }).click()
    const dialog = user.getByRole('dialog')
    // Neither Escape nor the browser's back button loses the secret by accident.
    await dialog.getByText('this once').waitFor()
    await user.keyboard.press('Escape')
    await user.keyboard.press('Escape')
    await dialog.getByText('You have not copied the secret.').waitFor()
    await dialog.getByRole('button', { name: 'Stay' }).click()
    await user.evaluate(() => history.back())
    await dialog.getByText('You have not copied the secret.').waitFor()
    await dialog.getByRole('button', { name: 'Stay' }).click()
    await user.keyboard.press('Escape')
    await dialog.getByText('You have not copied the secret.').waitFor()
    // Copying takes the warning away.
    secret = await storedSecret(user)
    assert.match(secret, /^svc_live_\w{32}$/)
    const command = await user.getByRole('region', { name: 'First request' }).locator('code').textContent()
    const { stdout } = await promisify(execFile)('sh', ['-c', command!.replace(/^curl /m, 'curl -s ')])
    assert.equal(JSON.parse(stdout).features.length, 3)
    await user.getByText(/It works: the key has made 1 call/).waitFor()
    assert.equal(await user.locator('.step[data-done=true]').count(), 3)
  })

  step('the catalog finds a dataset by a keyword, with a preview of it', async () => {
    await user.getByRole('link', { name: 'Datasets', exact: true }).click()
    await user.getByLabel('Search').fill('nothing like it')
    await user.getByText('No dataset matches').waitFor()
    await user.getByLabel('Search').fill('OWNERS town')
    await user.getByText('1 dataset', { exact: true }).waitFor()
    await user.locator('.preview .shapes[d^=M]').first().waitFor({ state: 'attached' })
    await user.getByRole('link', { name: 'Parcels of the town' }).click()
    await user.getByRole('heading', { name: 'Parcels of the town' }).waitFor()
  })

  step('the map draws the features in view, and a click shows the attributes of one', async () => {
    const page = await user.context().newPage()
    await drawMaps(page)
    // The software renderer needs a time that grows with the map's size.
    await page.setViewportSize({ width: 1000, height: 640 })
    await page.goto(`${service.url}/datasets/parcels`)
    await page.getByText('60 features in view', { exact: true }).waitFor()
    const box = (await page.locator('.map').boundingBox())!
    const attributes = page.getByRole('region', { name: 'Attributes' })
    await poll(async () => {
      await page.mouse.click(box.x + box.width / 2 - 4, box.y + box.height / 2 - 4)
      return attributes.isVisible()
    })
    await attributes.getByText('built').waitFor()
    assert.match((await attributes.textContent())!, /ownerOwner \d+area[\d.]+built(true|false)/)
    await page.getByRole('button', { name: 'Close the attributes' }).click()
    await attributes.waitFor({ state: 'hidden' })
    await page.close()
  })

  step('a dataset’s page shows its rows, columns and code', async () => {
    await user.getByRole('columnheader', { name: 'owner' }).waitFor()
    await user.getByRole('tab', { name: 'Columns' }).click()
    await user.getByRole('row', { name: /area number/ }).waitFor()
    await user.getByRole('tab', { name: 'Code', exact: true }).click()
    for (const language of ['curl', 'Python', 'JavaScript', 'QGIS', 'GDAL']) {
      await user.getByRole('tab', { name: language }).click()
      const code = await user.getByRole('region', { name: `${language} code` }).textContent()
      assert.ok(code!.includes(service.url), language)
    }
  })

  step('a download says its price before, and costs it', async () => {
    await user.getByRole('tab', { name: 'Download' }).click()
    await user.getByText('A format costs 1 credit, once in 24 hours.').waitFor()
    const [download] = await Promise.all([
      user.waitForEvent('download'),
      user.getByRole('button', { name: 'Download CSV' }).click(),
    ])
    assert.equal(download.suggestedFilename(), 'parcels.csv')
    const rows = (await readFile(await download.path(), 'utf8')).trim().split('\n')
    assert.equal(rows.length, 61)
    await user.getByText(/has 24 credits/).waitFor()
    await user.getByRole('tab', { name: 'Versions' }).click()
    await user.getByRole('button', { name: 'Download version 1' }).click()
    const [archive] = await Promise.all([
      user.waitForEvent('download'),
      user.getByRole('tabpanel').getByRole('button', { name: 'Download GeoJSON' }).click(),
    ])
    assert.equal(archive.suggestedFilename(), 'parcels-v1.geojson')
  })

  step('a download goes on in other tabs and pages, can be stopped there, and ends with sign-out', () =>
    keepDownloading(service, USER),
  )

  step('the usage of a key shows its calls and credits by day and operation', async () => {
    assert.equal(await statusOf('/v1/dataset/parcels/files/csv', secret), 200)
    await seeUsage(user)
  })

  step('renaming and narrowing a key leaves its secret as it is', async () => {
    await user.getByRole('button', { name: 'Change' }).click()
    const dialog = user.getByRole('dialog')
    await dialog.getByLabel('Name').fill('My notebook at home')
    await dialog.getByLabel('Read').selectOption('some')
    await dialog.getByLabel('parcels').check()
    await dialog.getByLabel('Expires').selectOption('30')
    await dialog.getByText('Where the key may be used').click()
    await dialog.getByLabel('Network addresses').fill('127.0.0.0/8\n127.0.0.0/99')
    await dialog.getByRole('button', { name: 'Save the changes' }).click()
    await dialog
      .getByText('“127.0.0.0/99” must be an IP address or a network such as 192.0.2.0/24.')
      .waitFor()
    await dialog.getByLabel('Network addresses').fill('127.0.0.0/8')
    await dialog.getByRole('button', { name: 'Save the changes' }).click()
    await user.getByRole('heading', { name: 'My notebook at home' }).waitFor()
    await user.getByText('127.0.0.0/8').waitFor()
    await user.getByText('Reads parcels').waitFor()
    assert.equal(await statusOf(items, secret), 200)
  })

  step('rotating stops the old secret at once', async () => {
    await user.getByRole('button', { name: 'Rotate' }).click()
    await user.getByText(/Programs that use it get 401/).waitFor()
    await user.getByRole('button', { name: 'Rotate now' }).click()
    const rotated = await storedSecret(user)
    assert.notEqual(rotated, secret)
    assert.equal(await statusOf(items, secret), 401)
    assert.equal(await statusOf(items, rotated), 200)
    secret = rotated
  })

  step('with an overlap the old secret goes on working, and the page tells until when', async () => {
    await user.getByRole('button', { name: 'Rotate' }).click()
    await user.getByLabel('The old secret ends').selectOption('After an hour')
    await user.getByRole('button', { name: 'Rotate now' }).click()
    const rotated = await storedSecret(user)
    assert.equal(await statusOf(items, secret), 200)
    assert.equal(await statusOf(items, rotated), 200)
    await user.getByText(/works until .*, last used:/).waitFor()
    secret = rotated
  })

  step('revoking stops the key for good, and deleting removes its record', async () => {
    await user.getByRole('button', { name: 'Revoke' }).click()
    await user.getByRole('button', { name: 'Revoke for good' }).click()
    await user.getByText('Revoked', { exact: true }).first().waitFor()
    assert.equal(await statusOf(items, secret), 401)
    await user.getByRole('button', { name: 'Delete' }).click()
    await user.getByRole('button', { name: 'Delete the key' }).click()
    await user.getByRole('heading', { name: 'Keys', exact: true }).waitFor()
    await user.getByRole('region', { name: 'Personal keys' }).waitFor({ state: 'detached' })
  })

  step(
    'a dialog that is left by Escape gives the focus back; an organization key is made and works',
    async () => {
      await user.getByRole('button', { name: 'Create an organization key' }).click()
      await user.getByRole('dialog').waitFor()
      await user.keyboard.press('Escape')
      await user.locator('button:focus', { hasText: 'Create an organization key' }).waitFor()
      await user.keyboard.press('Enter')
      await user.getByLabel('Name').fill(' ')
      await user.getByLabel('Read').selectOption('some')
      await user.getByRole('button', { name: 'Create the key' }).click()
      // Each field has its error, once and without a JSON pointer.
      const alerts = user.getByRole('dialog').getByRole('alert')
      await alerts.first().waitFor()
      assert.deepEqual(await alerts.allTextContents(), [
        'Name must have 1 to 100 characters.',
        'Choose at least one dataset to read.',
      ])
      await user.getByLabel('parcels').check()
      await alerts.filter({ hasText: 'Choose' }).waitFor({ state: 'detached' })
      await user.getByLabel('Name').fill('Town map')
      await user.getByRole('button', { name: 'Create the key' }).click()
      await user.getByRole('link', { name: 'Town map' }).waitFor({ state: 'attached' })
      const shared = await storedSecret(user)
      await user.locator('a:focus', { hasText: 'Town map' }).waitFor()
      assert.equal(await statusOf(items, shared), 200)
    },
  )

  step(
    'an invited colleague with only APIKEY_VIEW sees keys, no button to create one, and is refused by the API',
    async () => {
      await user.getByRole('link', { name: 'Organization', exact: true }).click()
      await user.getByRole('button', { name: 'Invite a colleague' }).click()
      await user.getByLabel('Email address').fill(COLLEAGUE)
      await user.getByLabel('Custom').check()
      await user.getByLabel('See keys').check()
      await user.getByRole('button', { name: 'Send the invitation' }).click()
      await user.getByRole('row', { name: /colleague@example.org/ }).waitFor()
      const { link } = await service.mailedLink(COLLEAGUE)
      const { page, context } = await service.open()
      await page.goto(link)
      await page.getByText(`invites ${COLLEAGUE} to join`).waitFor()
      await page.getByRole('link', { name: `Sign in as ${COLLEAGUE}` }).click()
      await page.getByRole('button', { name: 'Send the link' }).click()
      await page.getByRole('heading', { name: 'Check your email' }).waitFor()
      await page.goto((await service.mailedLink(COLLEAGUE)).link)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('button', { name: /^Join / }).click()
      await page.getByRole('heading', { name: 'Members' }).waitFor()
      for (const hidden of ['Rename', 'Invite a colleague', 'Select']) {
        assert.equal(await page.getByRole('button', { name: hidden }).count(), 0, hidden)
      }
      const menus = page.getByRole('button', { name: /^Actions for/ })
      assert.deepEqual(await menus.evaluateAll((all) => all.map((one) => one.ariaLabel)), [
        `Actions for ${COLLEAGUE}`,
      ])
      await menus.click()
      assert.deepEqual(await page.getByRole('menuitem').allTextContents(), ['Leave'])
      await page.keyboard.press('Escape')
      for (const hidden of ['Usage', 'Credits', 'Events', 'Administration']) {
        assert.equal(await page.getByRole('link', { name: hidden }).count(), 0, hidden)
      }
      const authorization = page
        .waitForRequest(/accessible/)
        .then((request) => request.headerValue('authorization'))
      await page.getByRole('link', { name: 'Keys', exact: true }).click()
      await page.getByRole('link', { name: 'Town map' }).waitFor()
      assert.equal(await page.getByRole('button', { name: 'Create an organization key' }).count(), 0)
      const headers = { authorization: (await authorization)!, 'content-type': 'application/json' }
      const me = await (await fetch(`${service.url}/v1/organization/me`, { headers })).json()
      const refused = await fetch(`${service.url}/v1/api-keys/organization/${me.id}`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ name: 'Mine', permissions: ['read'] }),
      })
      assert.equal(refused.status, 403)
      await page.getByRole('link', { name: 'Town map' }).click()
      await page.getByRole('heading', { name: 'Town map' }).waitFor()
      assert.equal(await page.getByRole('button', { name: 'Rotate' }).count(), 0)
      await context.close()
    },
  )

  step('a member’s permissions are changed and the member removed, and events tell of it', async () => {
    await user.reload()
    await chooseAction(user, COLLEAGUE, 'Change the role')
    await user.getByLabel('See usage and credits').check()
    await user.getByRole('button', { name: 'Save the permissions' }).click()
    await user.getByRole('row', { name: new RegExp(`${COLLEAGUE}.*sees keys, sees usage`) }).waitFor()
    // By keyboard: the menu opens at its first entry, and what it has opened gives the focus back to its button.
    const menu = user.getByRole('button', { name: `Actions for ${COLLEAGUE}` })
    await menu.focus()
    await user.keyboard.press('Enter')
    await user.locator('[role=menuitem]:focus', { hasText: 'Change the role' }).waitFor()
    await user.keyboard.press('ArrowUp')
    await user.locator('[role=menuitem]:focus', { hasText: 'Remove' }).waitFor()
    await user.keyboard.press('Enter')
    await user.getByRole('dialog').waitFor()
    await user.keyboard.press('Escape')
    await user.locator('button:focus[aria-haspopup=menu]').waitFor()
    await chooseAction(user, COLLEAGUE, 'Remove')
    await user.getByRole('button', { name: 'Remove the member' }).click()
    await user.getByRole('row', { name: new RegExp(COLLEAGUE) }).waitFor({ state: 'detached' })
    await user.getByRole('link', { name: 'Events' }).click()
    await user.getByText('Member removed').first().waitFor()
    await user.getByText('Key created').first().waitFor()
    await user.getByRole('searchbox', { name: 'Search' }).fill(`${COLLEAGUE} removed`)
    await user.getByText('Key created').first().waitFor({ state: 'detached' })
    await user.reload()
    await user.getByText('Member removed').waitFor()
    assert.equal(new URL(user.url()).searchParams.get('q'), `${COLLEAGUE} removed`)
    assert.equal(await user.getByText('Key created').count(), 0)
    await user.getByRole('searchbox', { name: 'Search' }).fill('100%')
    await user.getByText('No event matches').waitFor()
    await user.getByRole('link', { name: 'Usage' }).click()
    await user.getByRole('row', { name: /Town map/ }).waitFor()
  })

  step(
    'joining and leaving request nothing that is refused; without an organization, pages say so',
    async () => {
      const guest = 'guest@example.org'
      const { page, context } = await service.open()
      await service.signIn(page, guest)
      await user.getByRole('link', { name: 'Members' }).click()
      await user.getByRole('button', { name: 'Invite a colleague' }).click()
      await user.getByLabel('Email address').fill(guest)
      await user.getByRole('button', { name: 'Send the invitation' }).click()
      const { link } = await service.mailedLink(guest)
      const refused: string[] = []
      page.on('response', (response) => {
        if (response.status() >= 400) refused.push(`${response.status()} ${new URL(response.url()).pathname}`)
      })
      await page.goto(link)
      await page.getByRole('button', { name: /^Join / }).click()
      await page.getByRole('heading', { name: 'Members' }).waitFor()
      await chooseAction(page, guest, 'Leave')
      await page.getByRole('button', { name: 'Leave the organization' }).click()
      // The guest goes on in their own organization, and deletes it.
      await page.getByRole('heading', { name: 'Getting started' }).waitFor()
      await page.getByRole('link', { name: 'Organization', exact: true }).click()
      await page.getByRole('button', { name: 'Delete', exact: true }).click()
      await page.getByLabel('Type the name of the organization').fill("guest's organization")
      await page.getByRole('button', { name: 'Delete the organization' }).click()
      await page.getByRole('link', { name: 'Organization', exact: true }).waitFor({ state: 'detached' })
      await page.getByRole('heading', { name: 'Recently updated' }).waitFor()
      assert.deepEqual(refused, [])

      const none = 'You do not belong to an organization.'
      await navigate(page, '/datasets/parcels?tab=download')
      await page.getByText(`You see a free sample. ${none}`).waitFor()
      await page.getByRole('tab', { name: 'Versions' }).click()
      await page.getByRole('tabpanel').getByText(none).waitFor()
      await page.getByRole('tab', { name: 'Download' }).click()
      const note = page.getByRole('tabpanel').getByText(none)
      await note.getByRole('link', { name: 'make an organization of your own' }).click()
      await page.getByRole('heading', { name: 'You do not belong to an organization' }).waitFor()

      await page.goto(link)
      await page.getByRole('heading', { name: 'This invitation cannot be used' }).waitFor()
      await page.getByText('Ask the person who invited you').waitFor()
      await context.close()
    },
  )

  step('an address is blocked, and a user’s sessions are ended; the events tell of both', async () => {
    const tab = (name: string) =>
      admin.getByRole('navigation', { name: 'Administration' }).getByRole('link', { name }).click()
    await admin.getByRole('link', { name: 'Administration' }).click()
    await tab('Addresses')
    await admin.getByRole('button', { name: 'Block an address' }).click()
    await admin.getByLabel('Address or network').fill('192.0.2.0/24')
    await admin.getByLabel('Reason').fill('Flood')
    await admin.getByRole('button', { name: 'Block', exact: true }).click()
    await admin.getByRole('row', { name: /192\.0\.2\.0\/24.*Flood/ }).waitFor()
    await tab('Users')
    await chooseAction(admin, COLLEAGUE, 'End sessions')
    await admin.getByRole('button', { name: 'End all sessions' }).click()
    await admin.getByRole('dialog').waitFor({ state: 'detached' })
    await tab('Jobs')
    await admin.getByText('Done').first().waitFor()
    await tab('Events')
    await admin.getByText('Address blocked').waitFor()
    await admin.getByLabel('Kind').selectOption('session')
    await admin.getByText('Signed out').first().waitFor()
  })

  step('a platform key is made, and a dataset described and removed', async () => {
    await admin.getByRole('link', { name: 'Platform keys' }).click()
    await admin.getByRole('button', { name: 'Create a platform key' }).click()
    await admin.getByLabel('Name').fill('Nightly publishing')
    await admin.getByLabel('Write').selectOption('all')
    await admin.getByRole('button', { name: 'Create the key' }).click()
    const key = await storedSecret(admin)
    assert.equal(await statusOf(items, key), 200)
    await admin.getByRole('link', { name: 'Nightly publishing' }).click()
    await admin.getByText('Reads all datasets, publishes all datasets').waitFor()
    await admin.getByRole('link', { name: 'Administration' }).click()
    const parts = admin.getByRole('navigation', { name: 'Administration' })
    await parts.getByRole('link', { name: 'Datasets' }).click()
    await chooseAction(admin, 'parcels', 'Edit')
    await admin.getByLabel('Credits a download').fill('7')
    await admin.getByRole('button', { name: 'Save the description' }).click()
    await admin.getByRole('cell', { name: '7', exact: true }).waitFor()
    await chooseAction(admin, 'parcels', 'Remove')
    await admin.getByRole('button', { name: 'Remove the dataset' }).click()
    await admin.getByText('No dataset is published yet').waitFor()
    assert.equal((await fetch(`${service.url}/v1/dataset/parcels`)).status, 404)
  })
})
