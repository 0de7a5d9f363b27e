export interface BenchOptions {
  /** The folder of another checkout of the project, to compare with it. */
  against?: string
  /** How many points the benches large and tiles have. */
  points?: string
  /** Whether the bench large builds tiles too. */
  tiles?: boolean
  /** A part of the names of the rows of the bench hostile that are measured; all if it is absent. */
  rows?: string
}

/** A benchmark: it measures, and prints lines of Markdown. Every benchmark file exports one as `bench`. */
export type Bench = (print: (line: string) => void, options: BenchOptions) => Promise<void>

export function decimal(value: number, digits = 2): string {
  return value.toFixed(digits)
}

/** Formats a whole number with thousands separators. */
export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}
