/** How to read a file, as entered in the form. Empty texts leave it to detection. */
export interface ReadingChoices {
  layer: string
  crs: string
  idColumn: string
  timeColumn: string
  encoding: string
  longitude: string
  latitude: string
  geometryColumn: string
  types: string
  skipLines: string
  headerLines: string
  format: string
  isTable: boolean
  allowInaccurateCrs: boolean
  skipInvalid: boolean
}

export const noReadingChoices: ReadingChoices = {
  layer: '',
  crs: '',
  idColumn: '',
  timeColumn: '',
  encoding: '',
  longitude: '',
  latitude: '',
  geometryColumn: '',
  types: '',
  skipLines: '',
  headerLines: '',
  format: '',
  isTable: false,
  allowInaccurateCrs: false,
  skipInvalid: false,
}
