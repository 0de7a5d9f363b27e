import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../testing/test-server.ts'
import { openOgc, point } from '../testing/open-ogc.ts'

const TEXTS = ['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', '=HYPERLINK("x","y")', '-1,2', 'a=b', "'=x"]
const cell = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

test('texts that spreadsheets execute are kept, or escaped if the setting says so, in pages and downloads', async (t) => {
  const dataDir = temporaryFolder(t)
  for (const csvFormulas of ['keep', 'escape', 'keep'] as const) {
    const service = await openOgc(t, { dataDir, settings: { csvFormulas } })
    if (!(await service.parts.catalog.all()).some(({ table }) => table === 'places')) {
      await service.publish(
        'places',
        TEXTS.map((text, i) => point(1, 1, { '=text': text, n: -i - 1 })),
      )
    }
    const { key } = service
    const page = await service.request('GET', '/v1/ogc/collections/places/items?f=csv', { key })
    const file = await service.request('GET', '/v1/dataset/places/files/csv', { key })
    for (const { status, text } of [page, file]) {
      assert.equal(status, 200)
      const isEscaped = csvFormulas === 'escape'
      const guarded = (value: string) => (isEscaped && /^[=+\-@\t\r]/.test(value) ? `'${value}` : value)
      assert.ok(text.startsWith(`${guarded('=text')},n,`), text)
      for (const [i, value] of TEXTS.entries()) {
        // Numbers are never changed.
        assert.ok(text.includes(`\r\n${cell(guarded(value))},${-i - 1},`), `${csvFormulas} ${value}: ${text}`)
      }
    }
    assert.match(page.headers.get('etag') ?? '', csvFormulas === 'escape' ? /\.\de\.\d+"$/ : /\.\d\.\d+"$/)
    await service.stop()
  }
})
