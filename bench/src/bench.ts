/** One bench: it measures, and prints lines of Markdown. Every file of a bench exports one as `bench`. */
export type Bench = (print: (line: string) => void) => Promise<void>

export function decimal(value: number, digits = 2): string {
  return value.toFixed(digits)
}

/** Whole numbers with a comma between the thousands. */
export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}
