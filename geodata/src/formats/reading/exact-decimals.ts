/** A double represents this many digits of any decimal number exactly. */
export const EXACT_DIGITS = 15

/** The note on a column of decimals with more digits. */
export function wideDecimalsNote(name: string, digits: number): string {
  return `Column ${name} has decimals of ${digits} digits, more than a number holds exactly: it is kept as text.`
}
