import type { Parse } from './parsers.ts'

/** One row of the table of settings. `--help`, docs/settings.md and the parser are all made from it. */
export interface Setting<T> {
  /** The name of the environment variable; the settings file and flags use the setting's own name. */
  variable: string
  default: T
  help: string
  parse: Parse<T>
  /** Also available as a flag of `wayleave serve`. */
  flag?: true
  /** The value is never printed in a message. */
  secret?: true
}

/** A row of one of the tables in this folder. */
export function setting<T>(
  variable: string,
  defaultValue: T,
  parse: Parse<T>,
  help: string,
  extra: { flag?: true; secret?: true } = {},
): Setting<T> {
  return { variable, default: defaultValue, parse, help, ...extra }
}
