import { invalidInput } from '../../../base/problem.ts'

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

export function requireCurrency(currency: string): void {
  if (!CURRENCIES.has(currency))
    throw invalidInput('/currency', 'must be a currency of ISO 4217, such as EUR')
}

/** An amount as people read it: 1900 EUR is "19.00 EUR", 1900 JPY is "1900 JPY". */
export function moneyText(amount: number, currency: string): string {
  const digits = minorDigits(currency)
  const text = String(Math.abs(amount)).padStart(digits + 1, '0')
  const whole = text.slice(0, text.length - digits)
  const sign = amount < 0 ? '-' : ''
  return `${sign}${whole}${digits > 0 ? `.${text.slice(-digits)}` : ''} ${currency}`
}

/** How many digits the minor unit of a currency has. */
function minorDigits(currency: string): number {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency })
  return format.resolvedOptions().maximumFractionDigits ?? 2
}
