import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Locator, Page, Request } from 'playwright-core'
import { testedProgramArguments } from '../../scripts/program/tested-program.ts'
import { needs } from '../../scripts/test-run/needs.ts'
import { parcelsGeojson } from './parcels.ts'
import { startBasemap, type TestBasemap } from './test-basemap.ts'
import { ADMINISTRATOR, startConsole, type TestConsole } from './test-console.ts'
import { drawMaps, drop } from './test-page-actions.ts'

needs('chromium', 'processes', 'tools')

/** How people come to the service and get what they need, on one demo server, in order. */
describe('the way in', { concurrency: 1 }, () => {
  let service: TestConsole
  let admin: Page
  let visitor: Page
  let basemap: TestBasemap

  before(async () => {
    basemap = await startBasemap()
    service = await startConsole(
      {
        // No map here is about the service's own background, which takes long to load.
        WAYLEAVE_BASEMAP: `${basemap.origin}/style.json`,
        WAYLEAVE_NEW_ORGANIZATION_ADD_ONS: 'ARCHIVED_DATA',
        WAYLEAVE_CONTACT_URL: 'mailto:desk@example.org',
      },
      ['--demo'],
    )
    // Only the dataset whose small map is looked at gets tiles: those of all take long to build.
    execFileSync(process.execPath, [
      ...testedProgramArguments(),
      'tiles',
      'countries',
      '--data-dir',
      service.dataDir,
    ])
    admin = (await service.open()).page
    visitor = (await service.open()).page
  })
  after(async () => {
    await service.close()
    basemap.stop()
    assert.deepEqual(service.faults, [], 'no page broke, and none broke the Content-Security-Policy')
  })

  test('a visitor searches from the start page, narrows by facets and follows a keyword', async () => {
    const refusals: string[] = []
    visitor.on('response', (response) => {
      if (response.status() === 401) refusals.push(`${response.status()} ${response.url()}`)
    })
    const sizes: Promise<number>[] = []
    const count = (request: Request) =>
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize))
    visitor.on('requestfinished', count)
    await visitor.goto(service.url)
    await visitor.getByRole('heading', { name: 'Made to build on' }).waitFor()
    await visitor.waitForLoadState('networkidle')
    visitor.off('requestfinished', count)
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
    assert.ok(bytes > 50_000 && bytes < 250_000, `the start page loads ${bytes} bytes`)
    await visitor.getByRole('heading', { name: 'Data you can see, query and build on', level: 1 }).waitFor()
    await visitor.getByLabel('Search the datasets').fill('world')
    await visitor.getByRole('button', { name: 'Search' }).click()
    await visitor.getByText('3 datasets', { exact: true }).waitFor()
    await visitor.getByLabel(/^Polygons/).click()
    await visitor.getByText('1 dataset', { exact: true }).waitFor()
    assert.match(visitor.url(), /kind=Polygons/)
    await visitor.getByRole('link', { name: 'boundaries' }).click()
    await visitor.waitForURL(/keyword=boundaries/)
    await visitor.getByLabel('Sort by').selectOption('rows')
    // The whole dataset is drawn from its tiles, not the few rows of the sample.
    await visitor
      .locator('.preview .shapes[d^=M]:not(.extent)')
      .first()
      .waitFor({ state: 'attached', timeout: 180_000 })
    const path = await visitor.locator('.preview .shapes').first().getAttribute('d')
    assert.ok(path!.split('M').length > 200, `${path!.split('M').length} outlines`)
    assert.deepEqual(refusals, [], 'pages ask for no session that does not exist')
  })

  test('signing in by link returns to the page', async () => {
    const filter = `magnitude > 4 AND title <> '${'x'.repeat(300)}'`
    const page = await visitor.context().newPage()
    await drawMaps(page)
    await page.goto(
      `${service.url}/datasets/earthquakes?${new URLSearchParams({ filter, tab: 'code' }).toString()}`,
    )
    const signIn = page.getByText(/^Sign in to create a key/).getByRole('link', { name: 'Sign in' })
    await signIn.waitFor()
    // The map writes its view into the address a moment later, when the page may have been left.
    await page.getByRole('button', { name: /zoom in/i }).click()
    await signIn.click()
    await page.getByLabel('Email address').fill('visitor@example.org')
    await page.getByRole('button', { name: 'Send the link' }).click()
    await page.getByRole('heading', { name: 'Check your email' }).waitFor()
    await page.goto((await service.mailedLink('visitor@example.org')).link)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(/\/datasets\/earthquakes\?.*filter=magnitude.*x{300}/)
    await page.getByRole('heading', { name: 'Earthquakes of one week' }).waitFor()
    await page.close()
  })

  test('a user without add-ons asks for access, and the administrator grants it', async () => {
    await service.signIn(admin, ADMINISTRATOR)
    // The explorer says what is missing and offers to ask for it.
    await visitor.goto(`${service.url}/datasets/earthquakes`)
    await visitor.getByText(/You see a free sample\..* does not have the add-on “Maps and GIS”/).waitFor()
    await visitor.getByRole('button', { name: 'Request access' }).click()
    assert.ok(await visitor.getByLabel('Maps and GIS').isChecked())
    await visitor.getByLabel('Maps and GIS').uncheck()
    await visitor.getByLabel('File downloads').check()
    await visitor.getByLabel('Credits').fill('20')
    await visitor.getByLabel('What do you need it for?').fill('A map of the town')
    await visitor.getByRole('button', { name: 'Send the request' }).click()
    await visitor.getByText(/^visitor@example\.org asked the operator for access/).waitFor()
    await visitor.goto(`${service.url}/organization/access`)
    await visitor.getByRole('row', { name: /File downloads 20 credits Open/ }).waitFor()

    const { link } = await service.mailedLink(ADMINISTRATOR)
    await admin.goto(link)
    await admin.getByRole('row', { name: /visitor.*File downloads 20 credits.*A map of the town/ }).waitFor()
    await admin.getByRole('button', { name: /^Grant the request/ }).click()
    await admin.getByLabel('Maps and GIS').check()
    await admin.getByRole('button', { name: 'Grant', exact: true }).click()
    await admin.getByText('No open requests').waitFor()

    await visitor.goto((await service.mailedLink('visitor@example.org')).link)
    await visitor.getByRole('row', { name: /File downloads 20 credits Granted/ }).waitFor()
    await visitor.getByRole('row', { name: /Maps and GIS.*Granted/ }).waitFor()
  })

  test('an administrator publishes from the console in the demo', async () => {
    const { page: newcomer, context } = await service.open()
    await newcomer.goto(`${service.url}/sign-in`)
    await newcomer.getByText('admin@example.org is the administrator').waitFor()
    await context.close()
    await admin
      .getByRole('navigation', { name: 'Administration' })
      .getByRole('link', { name: 'Publish' })
      .click()
    await drop(admin, 'parcels.geojson', parcelsGeojson(30))
    await admin.getByLabel('Title').fill('Parcels')
    await admin.getByRole('button', { name: 'Publish', exact: true }).click()
    await admin.getByText(/version 1: 30 rows/).waitFor()
    await visitor.goto(`${service.url}/datasets/parcels`)
    await visitor.getByRole('heading', { name: 'Parcels' }).waitFor()
  })

  test('the dashboard, an organization’s page and a mail test', async () => {
    const tab = (name: string) =>
      admin.getByRole('navigation', { name: 'Administration' }).getByRole('link', { name }).click()
    await tab('Dashboard')
    await admin.getByText('Requests of the last 30 days').waitFor()
    await admin.getByRole('button', { name: 'Send' }).click()
    await admin.getByText('written to the outbox folder').waitFor()
    await tab('Organizations')
    await admin.getByRole('link', { name: "visitor's organization" }).click()
    await admin.getByRole('cell', { name: '+20' }).waitFor()
    await admin.getByRole('button', { name: 'Suspend' }).click()
    await admin.getByLabel('Reason').fill('Unpaid')
    await admin.getByRole('button', { name: 'Suspend the organization' }).click()
    await admin.getByText(/Suspended since/).waitFor()
    await visitor.goto(`${service.url}/organization/members`)
    await visitor.getByText('The operator has suspended this organization').waitFor()
    await admin.getByRole('button', { name: 'Resume' }).click()
    await admin.getByRole('button', { name: 'Resume the organization' }).click()
    await admin.getByText(/Suspended since/).waitFor({ state: 'detached' })
  })

  test('on a phone the ledger, the events and the members are cards, and nothing is hidden', async () => {
    const { page, context } = await service.open({ viewport: { width: 320, height: 700 } })
    await service.signIn(page, 'phone@example.org')
    for (const [part, words] of [
      ['members', ['Role', 'Joined']],
      // What happened, when and to whom say it themselves.
      ['events', ['By', 'Address']],
    ] as const) {
      await page.goto(`${service.url}/organization/${part}`)
      const row = page
        .getByRole('row')
        .filter({ has: page.getByRole('cell') })
        .first()
      await row.waitFor()
      const shown = await row.evaluate((element) =>
        [...element.querySelectorAll<HTMLElement>('td')].map((cell) => ({
          head: getComputedStyle(cell, '::before').content,
          // How far the cell and what it contains go beyond the card, which cuts it off.
          beyond: Math.max(
            ...[cell, ...cell.querySelectorAll('*')].map(
              (part) => part.getBoundingClientRect().right - element.getBoundingClientRect().right,
            ),
          ),
        })),
      )
      for (const word of words)
        assert.ok(
          shown.some(({ head }) => head === `"${word}"`),
          word,
        )
      assert.ok(
        shown.every(({ beyond }) => beyond <= 0),
        `${part} ${JSON.stringify(shown)}`,
      )
      // The tab of the part is in sight, whatever has to be scrolled for it.
      const tabs = page.getByRole('navigation', { name: 'Organization' })
      const current = (await tabs.locator('[aria-current]').boundingBox())!
      assert.ok(current.x >= 0 && current.x + current.width <= 320, `${part} ${JSON.stringify(current)}`)
      // The ends of the list fade out where it goes on.
      const ends = await tabs.evaluate((list) => {
        const frame = list.getBoundingClientRect()
        const rest = list.scrollWidth - list.clientWidth - list.scrollLeft
        return { left: frame.left + (list.scrollLeft > 1 ? 32 : 0), right: frame.right - (rest > 1 ? 64 : 0) }
      })
      const isClear = current.x >= ends.left && current.x + current.width <= ends.right
      assert.ok(isClear, `${part} ${JSON.stringify([current, ends])}`)
    }
    // A dialog that is higher than the window shows its buttons.
    await page.setViewportSize({ width: 320, height: 420 })
    await page.goto(`${service.url}/keys`)
    await page.getByRole('button', { name: 'Create a personal key' }).click()
    const create = page.getByRole('dialog').getByRole('button', { name: 'Create the key' })
    const isOnTop = await create.evaluate((button) => {
      const { left, right, top, bottom } = button.getBoundingClientRect()
      const dialog = button.closest('dialog')!
      const isHigher = dialog.scrollHeight > dialog.clientHeight
      return isHigher && document.elementFromPoint((left + right) / 2, (top + bottom) / 2) === button
    })
    assert.ok(isOnTop)
    // The field that has the focus is not below them.
    await page.getByRole('dialog').getByText('Where the key may be used').focus()
    await page.keyboard.press('Shift+Tab')
    const isClear = await page.evaluate(() => {
      const { bottom } = document.activeElement!.getBoundingClientRect()
      return bottom <= document.querySelector('dialog .dialog-foot')!.getBoundingClientRect().top
    })
    assert.ok(isClear)
    await context.close()
  })

  test('a user is blocked and deleted', async () => {
    const tab = () =>
      admin.getByRole('navigation', { name: 'Administration' }).getByRole('link', { name: 'Users' }).click()
    await tab()
    await admin.getByRole('link', { name: 'visitor@example.org' }).click()
    await admin.getByRole('heading', { name: 'visitor@example.org' }).waitFor()
    await admin.getByRole('button', { name: 'Block', exact: true }).click()
    await admin.getByLabel('Reason').fill('Abuse')
    await admin.getByRole('button', { name: 'Block the user' }).click()
    await admin.getByText(/Blocked since/).waitFor()
    await visitor.goto(`${service.url}/keys`)
    await visitor.getByRole('heading', { name: 'Sign in' }).waitFor()
    await admin.getByRole('button', { name: 'Delete', exact: true }).click()
    await admin.getByRole('button', { name: 'Delete the user' }).click()
    await tab()
    await admin.getByRole('link', { name: 'demo@example.org' }).waitFor()
    await admin.getByRole('link', { name: 'visitor@example.org' }).waitFor({ state: 'detached' })
  })

  test('the documentation is searched, shows this address, and the reference asks before it spends', async () => {
    const { page, context } = await service.open()
    await page.goto(`${service.url}/docs/gallery`)
    assert.ok((await page.textContent('main'))!.includes(service.url))
    assert.ok(!(await page.textContent('main'))!.includes('127.0.0.1:8080'))
    await page.getByRole('searchbox').fill('rotate')
    await page.locator('.doc-search li').first().waitFor()
    await page.getByRole('button', { name: 'Copy' }).first().click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()

    await service.signIn(page, 'reader@example.org')
    await page.goto(`${service.url}/docs/api`)
    const operation = async (words: string, path: string, method = 'GET') => {
      await page.getByLabel('Search the operations').fill(words)
      await page.getByLabel('Search the operations').press('Enter')
      const form = page.locator(`form[data-method="${method}"][data-path="${path}"]`)
      await page.locator('details', { has: form }).getByText('Try it').click()
      return form
    }
    const me = await operation('get auth/me caller', '/v1/auth/me')
    await me.getByRole('button', { name: 'Send' }).click()
    await me.getByText('reader@example.org').first().waitFor()
    await page.getByRole('button', { name: 'Python' }).first().click()
    await page.getByText("os.environ['WAYLEAVE_TOKEN']").first().waitFor()

    const items = await operation(
      'get {collectionid}/items page time',
      '/v1/ogc/collections/{collectionId}/items',
    )
    const examples = page
      .locator('.operation', { has: items })
      .locator('.operation-code [data-language] code')
    const before = await examples.allTextContents()
    const filter = `name = 'it''s' or "$HOME" = \`id\` and a\\b & c, d/\u00e9 # 100%`
    await items.locator('[name="path:collectionId"]').fill("a/'b")
    await items.locator('[name="query:filter"]').fill(filter)
    await items.locator('[name="query:limit"]').fill('7')
    const codes = await examples.allTextContents()
    assert.equal(codes.length, 3)
    const printsArguments = `curl() { for each; do printf '%s\\n' "$each"; done; }\n${codes[0]}`
    const address = execFileSync('sh', ['-c', printsArguments], { encoding: 'utf8' })
      .split('\n')
      .find((line) => line.startsWith(service.url))!
    for (const code of codes) assert.ok(code.includes(`'${address}'`), code)
    const { pathname, searchParams } = new URL(address)
    assert.equal(decodeURIComponent(pathname), "/v1/ogc/collections/a/'b/items")
    assert.deepEqual([searchParams.get('filter'), searchParams.get('limit')], [filter, '7'])
    await items.locator('[name="path:collectionId"]').fill('')
    assert.match((await examples.allTextContents())[0]!, /collections\/earthquakes\/items\?/)
    for (const name of ['path:collectionId', 'query:filter', 'query:limit']) {
      const field = items.locator(`[name="${name}"]`)
      await field.fill(await field.evaluate((input: HTMLInputElement) => input.defaultValue))
    }
    assert.deepEqual(await examples.allTextContents(), before, 'nothing is filled in any more')

    const create = await operation('post create a personal key', '/v1/api-keys/personal', 'POST')
    const codesOf = page
      .locator('.operation', { has: create })
      .locator('.operation-code [data-language] code')
    const examplesBefore = await codesOf.allTextContents()
    const body = { name: `it's "true" and null`, isTest: true, expiresAt: null, permissions: ['read'] }
    const field = create.locator('[name=body]')
    await field.fill(JSON.stringify(body, null, 2))
    const [shell, python, script] = await codesOf.allTextContents()
    const printsBody = `curl() { while [ "$1" != -d ]; do shift; done; printf '%s' "$2"; }\n${shell}`
    assert.deepEqual(JSON.parse(execFileSync('sh', ['-c', printsBody], { encoding: 'utf8' })), body)
    assert.match(python!, /"isTest": True,\n {8}"expiresAt": None,/)
    assert.ok(python!.includes(JSON.stringify(body.name)))
    const written = /JSON\.stringify\((.*)\),\n\}\)/s.exec(script!)![1]
    assert.deepEqual(new Function(`return ${written}`)(), body)
    // What is not JSON yet is not shown, and not sent.
    await field.fill('{ "name": ')
    assert.equal((await codesOf.allTextContents())[0], shell)
    assert.equal(await field.evaluate((input: HTMLTextAreaElement) => input.checkValidity()), false)
    await field.fill(await field.evaluate((input: HTMLTextAreaElement) => input.defaultValue))
    assert.deepEqual(await codesOf.allTextContents(), examplesBefore)

    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    const asked: string[] = []
    page.on('dialog', (dialog) => {
      asked.push(dialog.message())
      void dialog.dismiss()
    })
    const file = await operation('download a dataset', '/v1/dataset/{table}/files/{format}')
    await file.getByRole('button', { name: 'Send' }).click()
    while (asked.length === 0) await page.waitForTimeout(50)
    assert.match(asked[0]!, /costs up to 2 credits/)
    assert.ok(!requests.some((url) => url.includes('/files/')), 'nothing was sent')
    await context.close()
  })

  test('pages outside the console show the account, and signing in there returns to them', async () => {
    const { page, context } = await service.open()
    const calls: string[] = []
    page.on('request', (request) => calls.push(new URL(request.url()).pathname))
    await page.goto(`${service.url}/docs/gallery#r`)
    const header = page.getByRole('banner')
    const signIn = header.getByRole('link', { name: 'Sign in' })
    await page.locator('a[href*="?next="]').waitFor()
    // Pages that anyone may read ask nothing about visitors who never signed in.
    assert.ok(!calls.some((path) => path.startsWith('/v1/auth')))
    await signIn.click()
    await page.getByLabel('Email address').fill('docs@example.org')
    await page.getByRole('button', { name: 'Send the link' }).click()
    await page.getByRole('heading', { name: 'Check your email' }).waitFor()
    await page.goto((await service.mailedLink('docs@example.org')).link)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(/\/docs\/gallery#r$/)
    for (const path of ['/docs/gallery', '/v1/ogc?f=html', '/status']) {
      await page.goto(service.url + path)
      await header.getByText('docs@example.org').waitFor()
      await header.getByRole('link', { name: 'Keys' }).waitFor()
      assert.equal(await header.getByRole('link', { name: 'Administration' }).count(), 0)
    }
    // Signed in is signed in, without a prompt of the browser: what is missing is the add-on, not a key.
    await page.goto(`${service.url}/v1/ogc/collections?f=html`)
    await page.getByRole('main').getByRole('link', { name: 'Request access' }).waitFor()
    const main = page.getByRole('main')
    // Loaded again with the key of the session, it does not ask who is signed in to sign in.
    await page.goto(`${service.url}/v1/ogc/collections/nothing?f=html`)
    await main.getByRole('heading', { name: 'Not found' }).waitFor()
    assert.equal(await main.getByRole('link', { name: 'Sign in' }).count(), 0)
    // The list of pages is longer than the window, and shows the current one.
    await page.setViewportSize({ width: 1280, height: 600 })
    await page.goto(`${service.url}/docs/settings`)
    const menu = page.getByRole('navigation', { name: 'Documentation' })
    const shown = async (part: Locator) => (await part.boundingBox())!
    const [list, place] = [await shown(menu), await shown(menu.locator('[aria-current]'))]
    assert.ok(place.y >= list.y && place.y + place.height <= list.y + list.height)
    await page.goto(`${service.url}/docs/nothing`)
    await header.getByText('docs@example.org').waitFor()
    await main.getByRole('link', { name: 'See the datasets' }).waitFor()
    assert.ok(await main.locator('a[href^="/sign-in"]').isHidden())
    await header.getByRole('button', { name: 'Sign out' }).click()
    await signIn.waitFor()
    await main.getByRole('link', { name: 'Sign in' }).waitFor()
    await page.goto(`${service.url}/v1/ogc/collections`)
    await page.getByRole('main').getByRole('link', { name: 'Sign in' }).waitFor()
    await page.goto(`${service.url}/keys`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await context.close()
  })

  test('the maps and frames of the documentation work as copied, on a page of another site', async () => {
    const key = readFileSync(join(service.dataDir, 'demo-key'), 'utf8').trim()
    const { page, context } = await service.open({ viewport: { width: 400, height: 300 }, hasMaps: true })
    const library = dirname(fileURLToPath(import.meta.resolve('maplibre-gl/package.json')))
    const { version } = JSON.parse(readFileSync(join(library, 'package.json'), 'utf8'))
    await context.route('https://unpkg.com/**', (route) => {
      const [, name] = new URL(route.request().url()).pathname.split(`/maplibre-gl@${version}/`)
      return route.fulfill({ path: join(library, name!), headers: { 'access-control-allow-origin': '*' } })
    })
    let example = ''
    const site = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end(example)
    })
    await once(site.listen(0, '127.0.0.1'), 'listening')
    const { port } = site.address() as AddressInfo
    execFileSync(process.execPath, [
      ...testedProgramArguments(),
      'tiles',
      'earthquakes',
      '--data-dir',
      service.dataDir,
    ])
    let count = 0
    for (const name of ['gallery', 'tiles', 'ogc', 'explorer']) {
      await page.goto(`${service.url}/docs/${name}`)
      const codes = await page.locator('main pre code').allTextContents()
      if (name === 'tiles') {
        const command = codes.find((text) => text.startsWith('curl '))!.replace('YOUR_KEY', key)
        execFileSync('bash', ['-ec', command.replace('curl', 'curl --fail')], {
          cwd: service.dataDir,
          stdio: 'ignore',
        })
        assert.ok(statSync(join(service.dataDir, 'tile.mvt')).size > 100)
      }
      for (const code of codes.filter((text) => /^<(!doctype html|iframe)/.test(text))) {
        example = code.replaceAll('YOUR_KEY', key)
        const data = page.waitForResponse(
          (response) => /\/tiles\/|\/items\?|\/sample\//.test(response.url()) && response.status() === 200,
        )
        await page.goto(`http://127.0.0.1:${port}/`)
        await data
        await page.locator('iframe, canvas').first().waitFor()
        count++
      }
    }
    assert.equal(count, 4)
    await context.close()
    site.close()
  })
})
