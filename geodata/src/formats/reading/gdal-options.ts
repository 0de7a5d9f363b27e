/** How GDAL's `ogr2ogr` is run for the formats that have no reader of our own. */
export interface GdalOptions {
  /** The program's name or path; null if the operator turned its use off. */
  program: string | null
  /** The seconds after which it is ended. */
  seconds: number
  /** The address space that it may use, in megabytes. */
  megabytes: number
}

export const DEFAULT_GDAL: GdalOptions = { program: 'ogr2ogr', seconds: 600, megabytes: 4096 }
