/** An amount of minor units as people write it: 1900 EUR is €19.00. */
export function money(amount: number, currency: string): string {
  return formatOf(currency).format(amount / 10 ** digitsOf(currency))
}

/** An amount of minor units as a form has it, without the currency: 1900 EUR is 19.00. */
export function amountText(amount: number, currency: string): string {
  const digits = digitsOf(currency)
  return (amount / 10 ** digits).toFixed(digits)
}

/** What an amount of a currency looks like in a form, with a comma or a point. */
export function amountPattern(currency: string): string {
  const digits = digitsOf(currency)
  return digits === 0 ? '\\d{1,9}' : `\\d{1,9}(?:[.,]\\d{1,${digits}})?`
}

/** The minor units of what somebody typed; null if it is not an amount of the currency. */
export function minorUnits(text: string, currency: string): number | null {
  if (!new RegExp(`^${amountPattern(currency)}$`).test(text)) return null
  const [whole = '', part = ''] = text.split(/[.,]/)
  return Number(whole + part.padEnd(digitsOf(currency), '0'))
}

/** How many digits a currency has after the point: two for EUR, none for JPY. */
function digitsOf(currency: string): number {
  return isCode(currency) ? (formatOf(currency).resolvedOptions().maximumFractionDigits ?? 2) : 2
}

/** While a code is typed, it is not one yet. */
const isCode = (currency: string) => /^[A-Z]{3}$/.test(currency)

function formatOf(currency: string): Intl.NumberFormat {
  return new Intl.NumberFormat('en', { style: 'currency', currency })
}
