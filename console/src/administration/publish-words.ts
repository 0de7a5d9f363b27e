/** The fields of the form that do the same as options of the command line. */
const FIELDS: Record<string, string> = {
  '--layer': '“Layer or sheet”',
  '--crs': '“CRS”',
  '--encoding': '“Encoding”',
  '--longitude': '“Column of longitudes”',
  '--latitude': '“Column of latitudes”',
  '--id-column': '“Column of ids”',
  '--time-column': '“Column of times”',
  '--type': '“Column types”',
  '--skip-lines': '“Lines above the table”',
  '--header-lines': '“Lines of column names”',
  '--no-geometry': 'the box “Publish a table without geometry”',
  '--format': '“Format”',
  '--allow-inaccurate-crs': 'the box “Accept coordinates that may be more than 20 m off”',
  '--skip-invalid': 'the box “Publish the valid rows, and leave the others out”',
  '--ignore-schema': 'the box “Publish although it differs from the schema”',
  '--update': '“Changes and new rows, by id”',
  '--append': '“New rows only”',
}

const OPTION = /(?<![\w-])--[a-z][a-z-]*[a-z]/g

/** A message about publishing, with the fields of the form in place of options of the command line. */
export function publishWords(message: string): string {
  return message
    .replace(/ \(\w+=true\)/, '')
    .replace(/such as --\S+ /, 'such as ')
    .replace(/(?<! and) --latitude /, ' and --latitude ')
    .replace(OPTION, (option) => FIELDS[option] ?? 'a setting')
}
