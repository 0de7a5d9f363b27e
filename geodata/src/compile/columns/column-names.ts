/** Names of the columns that a spatial dataset's rows carry beside its own. */
const PLACE_COLUMNS = ['longitude', 'latitude', 'geometry']
/** What the database calls a row's number in a file, which is a feature's position. */
const POSITION_COLUMN = 'file_row_number'

/**
 * Makes every name usable and unique, without regard to case because databases compare names so. Renamed ones
 * get `_1`, `_2` …; an empty one is named by its place. `notes` gets a sentence for each change.
 */
export function columnNames(sourceNames: string[], spatial: boolean, notes: string[]): string[] {
  const taken = new Set([POSITION_COLUMN, ...(spatial ? PLACE_COLUMNS : [])])
  // A name that is fine as it is keeps it, even if a renamed one before it would like to have it.
  const wanted = new Set(sourceNames.map((name) => name.toLowerCase()))
  return sourceNames.map((sourceName, index) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is to be removed
    const clean = sourceName.replace(/[\u0000-\u001f\u007f]+/g, ' ').trim() || `column_${index + 1}`
    let name = clean
    for (let n = 1; taken.has(name.toLowerCase()) || (n > 1 && wanted.has(name.toLowerCase())); n++)
      name = `${clean}_${n}`
    taken.add(name.toLowerCase())
    if (name !== sourceName)
      notes.push(`Column ${index + 1}, ${JSON.stringify(sourceName)}, is named ${name}.`)
    return name
  })
}
