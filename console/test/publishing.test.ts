import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Page } from 'playwright-core'
import { needs } from '../../scripts/test-run/needs.ts'
import { check } from './check-accessibility.ts'
import { ADMINISTRATOR, startConsole, type TestConsole } from './test-console.ts'
import { drop, poll, stepsOn } from './test-page-actions.ts'

needs('chromium', 'processes')

const STATIONS = [
  'code;height;opened;remark;longitude;latitude',
  '1;1,5;31-12-2020;new;9.5;47.1',
  '2;2,25;01-02-2021;;9.6;47.2',
  'x;n/a;13-02-2021;old;9.7;47.3',
  '4;3,5;14-02-2021;;9.8;47.4',
].join('\n')

/** End-to-end tests of looking at a file, correcting it and publishing it, on one server, run in order. */
describe('look, correct, publish', { concurrency: 1 }, () => {
  let service: TestConsole
  let page: Page

  before(async () => {
    service = await startConsole()
    page = (await service.open()).page
    await service.signIn(page, ADMINISTRATOR)
  })
  after(async () => {
    await service.close()
    // A dataset without a draft has none: 404 by intention.
    assert.deepEqual(
      service.faults.filter((fault) => !/404/.test(fault)),
      [],
    )
  })

  const { step, picture } = stepsOn(() => page)

  step('a file is looked at, and nothing is published', async () => {
    await page.goto(`${service.url}/administration/publish`)
    // Nothing is asked before there is a file.
    await page.getByText('Drop a file here').waitFor()
    assert.equal(await page.getByRole('main').getByRole('textbox').count(), 0)
    await picture('drop')
    await drop(page, 'Stations.csv', STATIONS)
    const preview = page.getByRole('region', { name: 'What the file contains' })
    await preview.getByText('“x” in row 3').or(preview.getByText('x in row 3')).first().waitFor()
    assert.equal(await preview.getByLabel('Type of opened').inputValue(), 'date')
    assert.equal(await preview.getByLabel('How opened is written').inputValue(), 'dd-mm-yyyy')
    await preview.getByRole('cell', { name: '2020-12-31' }).waitFor()
    await page.getByText('Nothing is published yet.').waitFor()
    assert.equal((await fetch(`${service.url}/v1/dataset/stations`)).status, 404)
    await picture('inspection')
    await check(page)
  })

  step('columns are corrected, and what was looked at is published without sending it again', async () => {
    await page.getByLabel('Name of height').fill('metres')
    await page.getByText('Title, unit, description').nth(1).click()
    await page.getByLabel('Unit of height').fill('m')
    await page.getByLabel('Ids are in').selectOption('code')
    await page.getByLabel('Type of opened').selectOption('text')
    await page.getByRole('checkbox', { name: 'Publish remark' }).uncheck()
    await page.getByRole('button', { name: 'Look again' }).click()
    await page.getByRole('cell', { name: '31-12-2020' }).waitFor()
    await page.getByLabel('Check later versions against these columns').check()
    await page.getByLabel('Rows that a version may lack, in percent').fill('10')
    await picture('row-limit')
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByText(/version 1: 4 rows/).waitFor()
    const { columns } = await (await fetch(`${service.url}/v1/dataset/stations`)).json()
    assert.deepEqual(
      columns.map(({ name }: { name: string }) => name),
      ['code', 'metres', 'opened'],
    )
    assert.equal(columns[1].unit, 'm')
  })

  step('a file that differs from the schema is refused, and published if that is confirmed', async () => {
    await page.reload()
    await drop(page, 'stations.csv', 'code;opened;longitude;latitude\n1;31-12-2020;9.5;47.1\n')
    await page.getByLabel('What is new in this version').fill('Without heights')
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByText(/"height" is missing.*Publish although it differs from the schema/).waitFor()
    await picture('misfit')
    await page.getByLabel('Keep it back as a draft until it is released').check()
    await page.getByRole('button', { name: 'Publish although it differs from the schema' }).click()
    await page.getByText(/It is a draft: nobody else sees it/).waitFor()
  })

  step('a file with too few rows says so before it is published, unless it has new rows only', async () => {
    await page.reload()
    await drop(page, 'stations.csv', `${STATIONS.split('\n').slice(0, 3).join('\n')}\n`)
    const misfit = page.getByText(
      'It has 2 rows, and version 1 has 4: 50 % fewer, and the schema allows 10 %.',
    )
    await misfit.waitFor()
    await page.getByLabel('Geometries are in').selectOption('opened')
    await page.getByLabel('Geometries are in').selectOption('')
    await picture('row-misfit')
    await page.getByLabel('What the file has').selectOption('append')
    await page.getByRole('button', { name: 'Look again' }).click()
    await misfit.waitFor({ state: 'detached' })
  })

  step('a draft is released, and a version is rolled back to and deleted', async () => {
    await page.goto(`${service.url}/administration/jobs`)
    await page.getByText('1 row, as a draft').waitFor()
    await page.goto(`${service.url}/datasets/stations?tab=versions`)
    await page.getByText(/a version with 1 row waits for its release/).waitFor()
    await page.getByRole('button', { name: 'Look at it' }).click()
    const draft = page.getByRole('region', { name: 'What the draft contains' })
    await draft.getByRole('cell', { name: '31-12-2020' }).waitFor()
    await draft.getByText('1 to 1 of 1').waitFor()
    await check(page)
    await picture('versions')
    await page.getByRole('button', { name: 'Release' }).click()
    await page.getByRole('button', { name: 'Release the draft' }).click()
    await page.getByText('Without heights').waitFor()
    await page.getByRole('button', { name: 'Roll back to version 1' }).click()
    const isWhole = ({ scrollWidth, clientWidth }: Element) => scrollWidth <= clientWidth
    assert.ok(await page.getByRole('dialog').evaluate(isWhole), 'its sentence wraps, also in a cell')
    await page.getByRole('button', { name: 'Roll back', exact: true }).click()
    await page.getByText('Rolled back to version 1.').waitFor()
    await page.getByRole('button', { name: 'Delete version 2' }).click()
    await page.getByRole('button', { name: 'Delete the version' }).click()
    await page.getByText('Without heights').waitFor({ state: 'detached' })
    // The focus is in the row that took the place of the deleted one.
    await poll(async () => (await page.getByRole('row', { name: /^1 / }).locator(':focus').count()) === 1)
    const { data } = await (await fetch(`${service.url}/v1/dataset/stations/archives`)).json()
    assert.deepEqual(
      data.map(({ version, rows }: { version: number; rows: number }) => [version, rows]),
      [
        [3, 4],
        [1, 4],
      ],
    )
  })

  step('bad rows lead to a button, success to the map, and the same file again to a question', async () => {
    await page.goto(`${service.url}/administration/publish`)
    const rows = ['code,longitude,latitude', 'a,9.5,47.1', 'b,9.6,95', 'c,9.7,47.3']
    await drop(page, 'wells.csv', rows.join('\n'))
    await page.getByRole('region', { name: 'What the file contains' }).waitFor()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByRole('button', { name: 'Publish the 2 valid rows' }).click()
    await page.getByText(/version 1: 2 rows/).waitFor()
    await page.getByRole('link', { name: 'See it on the map' }).waitFor()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByText('You have just published this file as wells.').waitFor()
    await page.getByRole('button', { name: 'Leave it' }).click()
    await page.getByRole('button', { name: 'Publish another' }).click()
    await page.getByText('Drop a file here').waitFor()
    assert.equal((await (await fetch(`${service.url}/v1/dataset/wells`)).json()).version, 1)
  })

  step('new rows are appended', async () => {
    await page.goto(`${service.url}/administration/publish`)
    await drop(page, 'stations.csv', 'code;height;opened;longitude;latitude\n5;5,5;1-1-2022;9.5;47.1\n')
    await page.getByRole('region', { name: 'What the file contains' }).waitFor()
    await page.getByLabel('What the file has').selectOption('append')
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByText('1 row added, 0 updated, 0 removed.').waitFor()
  })
})
