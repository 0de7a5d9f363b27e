import { SourceError } from '../../source-error.ts'

/** What the definition of a table (.tab) may be: its rows are in the files with the same name. */
const OWN_TYPES = new Set(['NATIVE', 'LINKED', 'DBF', 'FME'])
const STRANGERS: [pattern: RegExp, what: string][] = [
  [/IsSeamless/i, 'a seamless table, whose rows are in other tables'],
  [/^\s*(open\s+table|create\s+view)\b/im, 'a view of other tables'],
  [/^\s*file\s+"/im, 'a table that names another file'],
]

/** Throws if the text of a .tab names other files, which GDAL would open. */
export function refuseOtherTables(definition: string, file: string): void {
  // GDAL reads lines of texts that may have NUL characters between.
  const text = definition.replaceAll('\0', '')
  const type = /\btype\s+"?(\w+)/i.exec(text)?.[1]?.toUpperCase()
  const what =
    STRANGERS.find(([pattern]) => pattern.test(text))?.[1] ??
    (type !== undefined && !OWN_TYPES.has(type) ? `a table of the type ${type}` : null)
  if (what !== null)
    throw new SourceError(
      `${file} is ${what}. Only tables with their own rows are read: publish those tables, or save it as a copy.`,
    )
}
