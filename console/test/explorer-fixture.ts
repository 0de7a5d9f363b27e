import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { startBasemap, type TestBasemap } from './test-basemap.ts'
import { ADMINISTRATOR, startConsole, type TestConsole } from './test-console.ts'
import { navigate, poll, shownOn } from './test-page-actions.ts'

/** A console with a signed-in administrator whose organization may read everything. */
export interface TestExplorer {
  service: TestConsole
  page: Page
  basemap: TestBasemap
  /** A management call as the administrator. */
  send(method: string, path: string, body: unknown): Promise<Response>
  /** Publishes a text as a file; the options are query parameters. */
  publish(table: string, file: string, source: string, options?: Record<string, string>): Promise<void>
  tilesReady(table: string): Promise<void>
  /** Opens a dataset with its map as links of the console do, without loading the console's code again. */
  open(table: string, query?: Record<string, string>): Promise<void>
  /** The same for tests that are not about the map, which is not drawn. */
  openWithoutMap(table: string, query?: Record<string, string>): Promise<void>
  /** A parameter of the page's address. */
  parameter(name: string): string | null
  facet(column: string, page?: Page): Locator
  close(): Promise<void>
}

export async function openExplorer(settings: NodeJS.ProcessEnv = {}): Promise<TestExplorer> {
  // The service's own background takes a third of the time that a map takes; the test of the console draws it.
  const basemap = await startBasemap()
  const service = await startConsole({
    WAYLEAVE_TILES: 'true',
    WAYLEAVE_BASEMAP: `${basemap.origin}/style.json`,
    ...settings,
  })
  // The software renderer needs a time that grows with the map's size.
  const { page } = await service.open({ viewport: { width: 1000, height: 640 } })
  const bearer = page.waitForRequest(/auth\/me/).then((request) => request.headerValue('authorization'))
  await service.signIn(page, ADMINISTRATOR)
  const authorization = (await bearer)!
  const send = async (method: string, path: string, body: unknown) => {
    const response = await fetch(service.url + path, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    })
    assert.ok(response.ok, `${method} ${path}: ${response.status}`)
    return response
  }
  const { organization } = await (await send('GET', '/v1/auth/me', undefined)).json()
  await send('PATCH', `/v1/admin/organizations/${organization.id}`, {
    addOns: ['API_ACCESS', 'GIS_ACCESS', 'ARCHIVED_DATA'],
  })
  await send('POST', `/v1/admin/organizations/${organization.id}/credits`, { add: 100 })
  // The page remembers the add-ons that it read before.
  await page.reload()
  const read = async (path: string) =>
    (await fetch(service.url + path, { headers: { authorization } })).json()
  const open = async (table: string, query: Record<string, string>, areMapsDrawn: boolean) => {
    // Leaves the page before, so that nothing of it is taken for the next.
    await navigate(page, '/none')
    await page.getByText('There is nothing at this address').waitFor()
    await page.evaluate((isDrawn) => Object.assign(window, { areMapsDrawn: isDrawn }), areMapsDrawn)
    await navigate(page, `/datasets/${table}?${new URLSearchParams(query)}`)
  }
  return {
    service,
    page,
    basemap,
    send,
    publish: async (table, file, source, options = {}) => {
      const query = new URLSearchParams({ filename: file, ...options })
      const job = await (await send('PUT', `/v1/dataset/${table}?${query}`, source)).json()
      await poll(async () => {
        const { state } = await read(`/v1/jobs/${job.id}`)
        assert.notEqual(state, 'failed')
        return state === 'done'
      })
    },
    tilesReady: (table) =>
      poll(async () => {
        const { tiles } = await read(`/v1/dataset/${table}`)
        assert.notEqual(tiles?.state, 'failed')
        return tiles?.state === 'ready'
      }),
    open: (table, query = {}) => open(table, query, true),
    openWithoutMap: (table, query = {}) => open(table, query, false),
    parameter: (name) => new URL(page.url()).searchParams.get(name),
    facet: (column, shown = page) =>
      shown.locator('.facet', { has: shown.getByText(column, { exact: true }) }),
    close: async () => {
      await service.close()
      basemap.stop()
    },
  }
}

/** A test that reports what the page shows if it fails. */
export function explorerFlow(name: string, explorer: () => TestExplorer, act: () => Promise<void>): void {
  test(name, async (t) => {
    try {
      await act()
    } catch (error) {
      t.diagnostic(await shownOn(explorer().page))
      throw error
    }
  })
}
