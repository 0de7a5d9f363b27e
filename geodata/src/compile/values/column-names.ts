/** The name of the geometry in the files of a spatial snapshot and in filters. */
const GEOMETRY_COLUMN = 'geometry'
/** The name that DuckDB gives the row number in a file, which is a feature's position. */
const POSITION_COLUMN = 'file_row_number'

interface NamedColumn {
  name: string
  /** Its number in the file, if it is not its position in the list. */
  number?: number | undefined
}

/**
 * Makes every name usable and unique. Case is ignored, as databases compare names case-insensitively. Renamed
 * columns get `_1`, `_2` …; an empty name is replaced by its column number. `notes` gets a sentence for each
 * change.
 */
export function columnNames(columns: NamedColumn[], spatial: boolean, notes: string[]): string[] {
  const sourceNames = columns.map(({ name }) => name)
  const usedNames = new Set([POSITION_COLUMN, ...(spatial ? [GEOMETRY_COLUMN] : [])])
  // A valid name is kept, even if an earlier renamed column would get the same name.
  const sourceNameSet = new Set(sourceNames.map((name) => name.toLowerCase()))
  return sourceNames.map((sourceName, index) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters must be removed
    const clean = sourceName.replace(/[\u0000-\u001f\u007f]+/g, ' ').trim() || `column_${index + 1}`
    let name = clean
    for (
      let n = 1;
      usedNames.has(name.toLowerCase()) || (n > 1 && sourceNameSet.has(name.toLowerCase()));
      n++
    )
      name = `${clean}_${n}`
    usedNames.add(name.toLowerCase())
    if (name !== sourceName)
      notes.push(
        `Column ${columns[index]!.number ?? index + 1}, ${JSON.stringify(sourceName)}, is named ${name}.`,
      )
    return name
  })
}
