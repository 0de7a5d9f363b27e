import assert from 'node:assert/strict'
import type { TestConsole } from './test-console.ts'

/** Downloads the parcels in a window of its own, visits other tabs and pages meanwhile, and signs out. */
export async function keepDownloading(service: TestConsole, email: string): Promise<void> {
  const { page, context } = await service.open()
  await service.signIn(page, email)
  const held = Promise.withResolvers<void>()
  const requests: string[] = []
  await page.route('**/files/*', async (route) => {
    requests.push(new URL(route.request().url()).pathname)
    await held.promise
    await route.continue().catch(() => {})
  })
  const panel = page.getByRole('tabpanel')
  const progress = (name: string) => panel.getByRole('progressbar', { name: `Download of ${name}` })
  await page.goto(`${service.url}/datasets/parcels?tab=download`)
  for (const name of ['CSV', 'KML']) await panel.getByRole('button', { name: `Download ${name}` }).click()
  await page.getByRole('tab', { name: 'Columns' }).click()
  await page.getByRole('tab', { name: 'Download' }).click()
  await progress('CSV').waitFor()
  await page.getByRole('link', { name: 'Keys', exact: true }).click()
  await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor()
  await page.goBack()
  await progress('CSV').waitFor()
  await panel.getByRole('listitem').filter({ hasText: 'KML' }).getByRole('button', { name: 'Stop' }).click()
  await panel.getByRole('button', { name: 'Download KML' }).waitFor()
  await page.getByRole('tab', { name: 'Columns' }).click()
  const [download] = await Promise.all([page.waitForEvent('download'), held.resolve()])
  assert.equal(download.suggestedFilename(), 'parcels.csv')
  await page.getByRole('tab', { name: 'Download' }).click()
  const downloaded = panel.getByText(/^Downloaded, /)
  await downloaded.waitFor()
  assert.deepEqual(
    requests,
    ['csv', 'kml'].map((format) => `/v1/dataset/parcels/files/${format}`),
  )

  await page.route('**/v1/dataset/parcels', async (route) => {
    const response = await route.fetch()
    const dataset = await response.json()
    await route.fulfill({ response, json: { ...dataset, version: dataset.version + 1 } })
  })
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')))
  await downloaded.waitFor({ state: 'hidden' })

  await page.unroute('**/files/*')
  await page.route('**/files/*', () => {})
  await panel.getByRole('button', { name: 'Download KML' }).click()
  await progress('KML').waitFor()
  const [ended] = await Promise.all([
    page.waitForEvent('requestfailed', (request) => request.url().includes('/files/')),
    page.getByRole('button', { name: 'Sign out' }).click(),
  ])
  assert.match(ended.failure()!.errorText, /ABORTED/)
  await context.close()
}
