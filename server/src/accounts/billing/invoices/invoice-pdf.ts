import { moneyText } from '../products/money.ts'
import type { InvoiceContent } from './invoices.ts'

const LEFT = 56
const RIGHT = 539
const WIDTH = RIGHT - LEFT
const INK = '#1a1a1a'
/** Of what names other things: labels and the heads of columns. */
const SOFT = '#5c6361'
const COLUMNS = { name: LEFT, quantity: 320, price: 370, amount: 460 }

export interface PrintedInvoice {
  id: string
  issued_at: string
  /** Null for a credit note. */
  due_at: string | null
  content: InvoiceContent
  /** When the order was paid; null if it is open. */
  paidAt: string | null
  /** Whether the order was cancelled, so that nothing is to be paid. */
  isCancelled: boolean
  orderId: string
  /** The invoice that a credit note corrects; null for an invoice. */
  invoiceId: string | null
}

type Document = PDFKit.PDFDocument

/** A font of its own has one weight only; the standard font is bold where it matters. */
interface Weights {
  plain: string
  bold: string
}

/** The invoice as a PDF file of one page, A4. */
export async function invoicePdf(invoice: PrintedInvoice, font: string | null): Promise<Buffer> {
  // Loaded with the first invoice: most processes never print one.
  const { default: PdfDocument } = await import('pdfkit')
  const document = new PdfDocument({
    size: 'A4',
    margin: LEFT,
    info: { Title: `${titleOf(invoice)} ${invoice.id}`, CreationDate: new Date(invoice.issued_at) },
  })
  const printable = font === null ? westernText : (text: string) => text
  const weights = { plain: font ?? 'Helvetica', bold: font ?? 'Helvetica-Bold' }
  document.font(weights.plain).fontSize(10).fillColor(INK)
  printHead(document, invoice, printable, weights)
  printLines(document, invoice.content, printable, weights)
  printFoot(document, invoice, printable)
  const chunks: Buffer[] = []
  return new Promise((resolve, reject) => {
    document.on('data', (chunk: Buffer) => chunks.push(chunk))
    document.on('end', () => resolve(Buffer.concat(chunks)))
    document.on('error', reject)
    document.end()
  })
}

type Printable = (text: string) => string

function printHead(
  document: Document,
  invoice: PrintedInvoice,
  printable: Printable,
  { plain, bold }: Weights,
): void {
  const { content, id, issued_at, due_at, orderId, invoiceId } = invoice
  document.text(printable(content.issuer.join('\n')), LEFT, 56, { width: 230, height: 110, ellipsis: true })
  document.font(bold).fontSize(22).text(titleOf(invoice), 330, 52).font(plain).fontSize(10)
  const facts = [
    ['Number', id],
    ['Date', dateText(issued_at)],
    invoiceId === null ? ['Due', dateText(due_at!)] : ['Invoice', invoiceId],
    ['Order', orderId],
  ] as const
  for (const [index, [label, value]] of facts.entries()) {
    const y = 84 + index * 15
    document.fillColor(SOFT).text(label, 330, y)
    document.fillColor(INK).text(value, 385, y, { lineBreak: false })
  }
  document.fillColor(SOFT).text('To', LEFT, 180)
  document.fillColor(INK).text(printable(content.customer.join('\n')), LEFT, 196, {
    width: 300,
    height: 130,
    ellipsis: true,
  })
}

function printLines(
  document: Document,
  content: InvoiceContent,
  printable: Printable,
  { plain, bold }: Weights,
): void {
  const { line, currency } = content
  const money = (amount: number) => moneyText(amount, currency)
  const right = (text: string, x: number, y: number, width: number) =>
    document.text(text, x, y, { width, align: 'right', lineBreak: false })
  let y = 345
  document.fillColor(SOFT).text('Description', COLUMNS.name, y)
  right('Quantity', COLUMNS.quantity, y, 45)
  right('Price', COLUMNS.price, y, 85)
  right('Amount', COLUMNS.amount, y, RIGHT - COLUMNS.amount)
  document.fillColor(INK)
  rule(document, y + 16)
  y += 26
  const period = line.period ? `\n${dateText(line.period.start)} to ${dateText(line.period.end)}` : ''
  document.text(printable(line.name) + period, COLUMNS.name, y, { width: 255, height: 60, ellipsis: true })
  right(String(line.quantity), COLUMNS.quantity, y, 45)
  right(money(line.price), COLUMNS.price, y, 85)
  right(money(content.net), COLUMNS.amount, y, RIGHT - COLUMNS.amount)
  y += 66
  rule(document, y)
  const sums: [string, number][] = [
    ['Net', content.net],
    [`Tax ${content.taxPercent} %`, content.tax],
    ['Total', content.total],
  ]
  for (const [index, [label, amount]] of sums.entries()) {
    const at = y + 12 + index * 17
    document.font(index === sums.length - 1 ? bold : plain)
    right(label, COLUMNS.price, at, 85)
    right(money(amount), COLUMNS.amount, at, RIGHT - COLUMNS.amount)
  }
  document.font(plain)
}

function printFoot(
  document: Document,
  { content, due_at, paidAt, isCancelled, id, invoiceId }: PrintedInvoice,
  printable: Printable,
): void {
  const total = moneyText(content.total, content.currency)
  if (invoiceId !== null) {
    const text = isCancelled
      ? `The invoice ${invoiceId} is cancelled. Nothing is to be paid.`
      : `${total} of the invoice ${invoiceId} is returned.`
    document.text(text, LEFT, 540, { width: WIDTH })
    return
  }
  if (isCancelled) {
    document.text('The order was cancelled. Nothing is to be paid.', LEFT, 540, { width: WIDTH })
    return
  }
  const state =
    paidAt === null
      ? `Please pay ${total} by ${dateText(due_at!)} and name the invoice number ${id}.`
      : `Paid on ${dateText(paidAt)}. Nothing is to be paid.`
  document.text(state, LEFT, 540, { width: WIDTH })
  document.moveDown().text(printable(content.bank.join('\n')), { width: WIDTH, height: 120, ellipsis: true })
}

function titleOf({ invoiceId }: PrintedInvoice): string {
  return invoiceId === null ? 'Invoice' : 'Credit note'
}

function rule(document: Document, y: number): void {
  document.moveTo(LEFT, y).lineTo(RIGHT, y).lineWidth(0.5).strokeColor('#888888').stroke()
}

/** Such as 18 November 2026: no country reads another month. */
function dateText(time: string): string {
  const options = { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' } as const
  return new Date(time).toLocaleDateString('en-GB', options)
}

/** The standard fonts of PDF have the characters of Windows-1252 only; others lose their marks or become "?". */
function westernText(text: string): string {
  return [...text.normalize('NFC')]
    .map((character) => {
      if (isWestern(character)) return character
      const bare = character.normalize('NFD').replace(/\p{M}/gu, '')
      return bare !== '' && [...bare].every(isWestern) ? bare : '?'
    })
    .join('')
}

function isWestern(character: string): boolean {
  return /^[\n\x20-\x7e\xa0-\xff€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]$/u.test(character)
}
