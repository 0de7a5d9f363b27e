import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { Request } from 'playwright-core'
import { count } from '../src/words.ts'
import { explorerFlow, type TestExplorer } from './explorer-fixture.ts'
import type { Sensor } from './sensors.ts'

const monthName = (iso: string) =>
  new Date(iso).toLocaleDateString('en-GB', { month: 'short', year: 'numeric', timeZone: 'UTC' })

/** What charts show, save and filter, compared with the source by brute force. */
export function chartFlows(explorerOf: () => TestExplorer, sensors: readonly Sensor[]): void {
  const flow = (name: string, act: () => Promise<void>) => explorerFlow(name, explorerOf, act)
  const open = (query: Record<string, string>) => explorerOf().openWithoutMap('sensors', query)
  const parameter = (name: string) => explorerOf().parameter(name)
  const matched = (rows: number) =>
    explorerOf()
      .page.locator('.filter-count', { hasText: `${count(rows)} of 3,000 rows` })
      .waitFor()

  /** The table of a chart: the cells of each row by the name of the row. */
  const chartTable = async (title: string) => {
    const { page } = explorerOf()
    const chart = page.getByRole('figure', { name: title, exact: true })
    await chart.getByRole('img').waitFor()
    await chart.getByRole('button', { name: `Table: ${title}` }).click()
    const rows = await chart.locator('tbody tr').allInnerTexts()
    await chart.getByRole('button', { name: `Table: ${title}` }).click()
    return rows.map((row) => row.split('\t').map((cell) => cell.trim()))
  }
  const groupsOf = <T>(rows: readonly Sensor[], key: (row: Sensor) => T) => Map.groupBy(rows, key)

  flow('charts measure all rows that match, and their files have the same numbers', async () => {
    const { page } = explorerOf()
    const charts = 'kind;measure=mean;of=value,value;step=10,measured;step=month;by=kind'
    await open({ filter: "name LIKE '%1%'", tab: 'charts', charts })
    const rows = sensors.filter(({ name }) => name.includes('1'))
    await matched(rows.length)
    const kinds = groupsOf(rows, ({ kind }) => kind)
    for (const [kind, mean, number] of await chartTable('Mean of value by kind')) {
      const own = kinds.get(kind!)!
      const values = own.map(({ value }) => value).filter((value) => value !== null)
      const expected = values.reduce((sum, value) => sum + value, 0) / values.length
      assert.ok(Math.abs(Number(mean) - expected) < 0.001, `${kind}: ${mean}, not ${expected}`)
      assert.equal(number, count(own.length))
    }
    await page
      .getByText(`${kinds.get(null)!.length} rows without a value`)
      .first()
      .waitFor()
    const tens = groupsOf(rows, ({ value }) => (value === null ? null : Math.floor(value / 10) * 10))
    const histogram = [...tens].filter(([from]) => from !== null).sort(([a], [b]) => a! - b!)
    assert.deepEqual(
      await chartTable('Rows by value'),
      histogram.map(([from, own]) => [`${from} to ${from! + 10}`, count(own.length)]),
    )
    const months = await chartTable('Rows by month of measured and kind')
    const parts = groupsOf(rows, ({ measured, kind }) => `${monthName(measured)}/${kind ?? '(no value)'}`)
    assert.deepEqual(
      Object.fromEntries(months.map(([month, kind, number]) => [`${month}/${kind}`, number])),
      Object.fromEntries([...parts].map(([key, own]) => [key, count(own.length)])),
    )
    const save = async (title: string, format: string) => {
      const downloading = page.waitForEvent('download')
      await page.getByLabel(`Save the chart: ${title}`).click()
      await page
        .getByRole('figure', { name: title, exact: true })
        .getByRole('button', { name: format })
        .click()
      return readFileSync(await (await downloading).path())
    }
    const csv = (await save('Rows by value', 'CSV')).toString()
    assert.equal(
      csv,
      ['value,Rows', ...histogram.map(([from, own]) => `${from} to ${from! + 10},${own.length}`), ''].join(
        '\r\n',
      ),
    )
    assert.match((await save('Rows by value', 'SVG')).toString(), /^<svg[\s\S]*Rows by value[\s\S]*<\/svg>$/)
    assert.equal((await save('Rows by value', 'PNG')).subarray(1, 4).toString(), 'PNG')
  })

  flow('a click on a mark filters, and the chart keeps its other groups', async () => {
    const { page } = explorerOf()
    await open({ tab: 'charts', charts: 'kind,value;step=10' })
    const chart = page.getByRole('figure', { name: 'Rows by kind' })
    await chart.locator('.chart-marks > *').first().click()
    const [first] = [...groupsOf(sensors, ({ kind }) => kind)]
      .filter(([kind]) => kind !== null)
      .sort(([, a], [, b]) => b.length - a.length)
    await matched(first![1].length)
    assert.equal(parameter('filter'), `kind = '${first![0]!.replace("'", "''")}'`)
    assert.equal(await chart.locator('.chart-marks > *').count(), 5)
    await chart.locator('.chart-marks > *').first().click()
    await page.locator('.filter-count', { hasText: /^3,000 rows$/ }).waitFor()
    // The same by keyboard, from the table.
    await chart.getByRole('button', { name: /^Table/ }).focus()
    await page.keyboard.press('Enter')
    await chart.getByRole('button', { name: first![0]! }).focus()
    await page.keyboard.press('Enter')
    await matched(first![1].length)
  })

  flow(
    'bars on a logarithmic axis are as long as the logarithm of their rows; the legend filters',
    async () => {
      const { page } = explorerOf()
      await open({ tab: 'charts', charts: 'value;step=10;scale=log,value;step=10;by=kind' })
      const bars = page
        .getByRole('figure', { name: 'Rows by value', exact: true })
        .locator('.chart-marks > *')
      await bars.first().waitFor()
      const drawn = (
        await bars.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height))
      ).sort((a, b) => a - b)
      const values = sensors.filter(({ value }) => value !== null)
      const counts = [...groupsOf(values, ({ value }) => Math.floor(value! / 10)).values()]
        .map(({ length }) => length)
        .sort((a, b) => a - b)
      assert.equal(drawn.length, counts.length)
      const length = (rows: number) => Math.log(rows / (counts[0]! / 2))
      for (const [index, rows] of counts.entries()) {
        const expected = (drawn.at(-1)! * length(rows)) / length(counts.at(-1)!)
        assert.ok(Math.abs(drawn[index]! - expected) < 1, `${rows} rows: ${drawn[index]}, not ${expected}`)
      }
      const kind = sensors.find((sensor) => sensor.kind !== null)!.kind!
      const split = page.getByRole('figure', { name: 'Rows by value and kind', exact: true })
      const entry = split
        .getByRole('list', { name: 'Legend' })
        .getByRole('button', { name: kind, exact: true })
      await entry.press('Enter')
      await matched(sensors.filter((sensor) => sensor.kind === kind).length)
      await entry.and(page.locator('[aria-pressed=true]')).press('Enter')
      await page.locator('.filter-count', { hasText: /^3,000 rows$/ }).waitFor()
    },
  )

  flow('charts are chosen and changed, and the address has them', async () => {
    const { page } = explorerOf()
    await open({ tab: 'charts', charts: 'kind' })
    await page.getByLabel('Add a chart of').selectOption('measured')
    await page.getByRole('img', { name: /^Rows by measured/ }).waitFor()
    assert.equal(parameter('charts'), 'kind,measured')
    await page.getByRole('button', { name: 'Change the chart: Rows by kind' }).click()
    await page.getByLabel('Chart', { exact: true }).selectOption('box')
    await page.getByRole('img', { name: /^Spread of value by kind/ }).waitFor()
    await page.getByLabel('Chart', { exact: true }).selectOption('bars')
    await page.getByLabel('Show the first').fill('2')
    await page.getByLabel('Show the first').press('Enter')
    await page.getByText('Others: 3 other values').waitFor()
    assert.equal(parameter('charts'), 'kind;top=2,measured')
    // While the page hides a chart, such as while other parts load, it keeps its width.
    const widths = await page.getByRole('figure', { name: 'Rows by kind' }).evaluate(async (figure) => {
      const width = () => figure.querySelector('[role=img]')!.getAttribute('width')
      const before = width()
      figure.style.display = 'none'
      for (let frames = 0; frames < 3; frames++)
        await new Promise((resolve) => requestAnimationFrame(resolve))
      const hidden = width()
      figure.style.display = ''
      return { before, hidden }
    })
    assert.equal(widths.hidden, widths.before)
    // A title and a note are in the address and in the saved picture, which has lines for long ones.
    const asked: string[] = []
    const remember = (request: Request) => void asked.push(request.url())
    page.on('request', remember)
    await page.getByLabel('Title', { exact: true }).fill('Few kinds; most rows, = half')
    await page.getByLabel('Title', { exact: true }).press('Enter')
    const own = page.getByRole('figure', { name: 'Few kinds; most rows, = half' })
    await own.getByText('Rows by kind', { exact: true }).waitFor()
    const note = 'Two kinds have most of the rows. '.repeat(5).trim()
    await own.getByLabel('Note').fill(note)
    await own.getByLabel('Note').press('Enter')
    await own.getByText(note).waitFor()
    page.off('request', remember)
    assert.ok(!asked.some((url) => url.includes('/aggregate')), 'the words need no new numbers')
    const shared = page.url()
    await page.goto('about:blank')
    await page.goto(shared)
    await own.getByText(note).waitFor()
    await own.getByRole('img', { name: /^Few kinds; most rows, = half\. Rows by kind: / }).waitFor()
    const downloading = page.waitForEvent('download')
    await own.getByLabel('Save the chart').click()
    await own.getByRole('button', { name: 'SVG' }).click()
    const svg = readFileSync(await (await downloading).path(), 'utf8')
    const lines = await page.evaluate((text) => {
      const place = document.body.appendChild(document.createElement('div'))
      place.innerHTML = text
      const frame = place.querySelector('svg')!
      const written = [...frame.children].filter(({ tagName }) => tagName === 'text') as SVGTextElement[]
      const widths = written.map((one) => one.getComputedTextLength())
      const texts = written.map(({ textContent }) => textContent)
      place.remove()
      return { texts, widest: Math.max(...widths), width: Number(frame.getAttribute('width')) }
    }, svg)
    assert.equal(lines.texts[0], 'Few kinds; most rows, = half')
    assert.match(lines.texts[1]!, /: Rows by kind$/)
    assert.ok(lines.texts.join(' ').includes(note))
    assert.ok(lines.widest <= lines.width - 16, JSON.stringify(lines))
    await page.getByRole('button', { name: 'Change the chart: Few kinds' }).click()
    await page.getByLabel('Title', { exact: true }).fill('')
    await page.getByLabel('Title', { exact: true }).press('Enter')
    const table = await chartTable('Rows by kind')
    const counts = Object.fromEntries(
      [...groupsOf(sensors, ({ kind }) => String(kind))].map(([kind, own]) => [kind, count(own.length)]),
    )
    const shown = table.slice(0, 2).reduce((sum, [, number]) => sum + Number(number!.replace(',', '')), 0)
    const all = sensors.filter(({ kind }) => kind !== null).length
    assert.deepEqual(table, [
      [table[0]![0], counts[table[0]![0]!]],
      [table[1]![0], counts[table[1]![0]!]],
      ['Others', count(all - shown)],
    ])
  })
}
