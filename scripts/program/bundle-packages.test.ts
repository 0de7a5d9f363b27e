import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { bundlePackages } from './bundle-packages.ts'

const root = join(import.meta.dirname, '../..')

test('the bundled pdfkit prints with the fonts of invoices, away from its own files', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-vendor-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  await bundlePackages(root, ['pdfkit'], folder)
  const { default: PdfDocument } = await import(pathToFileURL(join(folder, 'pdfkit.js')).href)
  const document = new PdfDocument({ size: 'A4' })
  const source = readFileSync(join(root, 'server/src/accounts/billing/invoices/invoice-pdf.ts'), 'utf8')
  const fonts = new Set(source.match(/(?<=')Helvetica[\w-]*(?=')/g))
  assert.ok(fonts.size > 0)
  for (const font of fonts) document.font(font).text('Invoice')
  document.end()
  assert.match(await text(document), /^%PDF-1/)
})
