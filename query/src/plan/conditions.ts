import type { Transform, Value } from '@wayleave/geodata/geometry'
import type { Limits } from '../cql2/ast.ts'

/** The coordinate reference system of the positions in a filter. */
export interface FilterCrs {
  uri: string
  /** Null if the CRS's coordinates are longitude and latitude. */
  toWgs84: Transform | null
  /** Whether positions are written latitude (northing) first. */
  northingFirst: boolean
}

export interface FilterText {
  text: string
  /** The same if it is CQL2 JSON and was parsed already. */
  json?: Value
  language: 'cql2-text' | 'cql2-json'
  crs: FilterCrs
  limits: Limits
}

/** The conditions on a dataset's rows, as texts. */
export interface Conditions {
  filter: FilterText | null
  datetime: string | null
  properties: { column: string; value: string }[]
}
