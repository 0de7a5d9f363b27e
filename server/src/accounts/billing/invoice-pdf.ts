import type { InvoiceContent } from './invoices.ts'
import { moneyText } from './money.ts'

const LEFT = 56
const RIGHT = 539
const WIDTH = RIGHT - LEFT
const COLUMNS = { name: LEFT, quantity: 320, price: 370, amount: 460 }

export interface PrintedInvoice {
  id: string
  issued_at: string
  /** Null for a credit note. */
  due_at: string | null
  content: InvoiceContent
  /** When the order was paid; null if it is open. */
  paidAt: string | null
  orderId: string
  /** The invoice that a credit note corrects; null for an invoice. */
  invoiceId: string | null
}

type Document = PDFKit.PDFDocument

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
  document
    .font(font ?? 'Helvetica')
    .fontSize(10)
    .fillColor('#1a1a1a')
  printHead(document, invoice, printable)
  printLines(document, invoice.content, printable)
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

function printHead(document: Document, invoice: PrintedInvoice, printable: Printable): void {
  const { content, id, issued_at, due_at, orderId, invoiceId } = invoice
  document.text(printable(content.issuer.join('\n')), LEFT, 56, { width: 230, height: 110, ellipsis: true })
  document.fontSize(22).text(titleOf(invoice), 330, 52).fontSize(10)
  const facts = [
    ['Number', id],
    ['Date', dateText(issued_at)],
    invoiceId === null ? ['Due', dateText(due_at!)] : ['Invoice', invoiceId],
    ['Order', orderId],
  ] as const
  for (const [index, [label, value]] of facts.entries()) {
    document.text(label, 330, 84 + index * 15).text(value, 385, 84 + index * 15, { lineBreak: false })
  }
  document.text('To', LEFT, 180).text(printable(content.customer.join('\n')), LEFT, 196, {
    width: 300,
    height: 130,
    ellipsis: true,
  })
}

function printLines(document: Document, content: InvoiceContent, printable: Printable): void {
  const { line, currency } = content
  const money = (amount: number) => moneyText(amount, currency)
  const right = (text: string, x: number, y: number, width: number) =>
    document.text(text, x, y, { width, align: 'right', lineBreak: false })
  let y = 345
  document.text('Description', COLUMNS.name, y)
  right('Quantity', COLUMNS.quantity, y, 45)
  right('Price', COLUMNS.price, y, 85)
  right('Amount', COLUMNS.amount, y, RIGHT - COLUMNS.amount)
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
    right(label, COLUMNS.price, at, 85)
    right(money(amount), COLUMNS.amount, at, RIGHT - COLUMNS.amount)
  }
}

function printFoot(
  document: Document,
  { content, due_at, paidAt, id, invoiceId }: PrintedInvoice,
  printable: Printable,
): void {
  const total = moneyText(content.total, content.currency)
  if (invoiceId !== null) {
    document.text(`${total} of the invoice ${invoiceId} is returned.`, LEFT, 540, { width: WIDTH })
    return
  }
  const state =
    paidAt === null
      ? `Please pay ${total} until ${dateText(due_at!)} and name the invoice number ${id}.`
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

function dateText(time: string): string {
  return time.slice(0, 10)
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
