import type { ColumnType, Snapshot } from '@wayleave/geodata/features'
import type { BoxQuery } from '../plan/box-query.ts'

export const PERIODS = ['year', 'quarter', 'month', 'week', 'day', 'hour', 'weekday'] as const
export type Period = (typeof PERIODS)[number]

/** What divides features into groups. A feature without a value is in a group of its own, whose value is null. */
export type Dimension =
  | { kind: 'column'; column: string }
  /** Numbers in intervals of this width; the value of a group is the lower end, which is part of the interval. */
  | { kind: 'interval'; column: string; width: number }
  /** Numbers in this many intervals that have about as many of the dataset's features each. */
  | { kind: 'quantile'; column: string; count: number }
  | { kind: 'period'; column: string; period: Period }
  /** Tiles of the web mercator grid, as `zoom/x/y`. */
  | { kind: 'tile'; zoom: number }
  | { kind: 'h3'; resolution: number }
  /** The feature of another dataset in whose area a feature lies, by its id and the value of the label column. */
  | { kind: 'within'; zones: ZoneSource; label: string | null }

/** How the features of another dataset are read. An error of `read` then belongs to that dataset. */
export type ZoneSource = <T>(read: (zones: Snapshot) => Promise<T>) => Promise<T>

/** What is computed for each group. Only features that have a value count, but for `count` itself. */
export type Measure =
  | { kind: 'count' }
  | { kind: 'distinct' | 'sum' | 'mean' | 'min' | 'max' | 'stddev'; column: string }
  | { kind: 'percentile'; column: string; percent: number }
  /** The value of the feature with the smallest or the largest time. */
  | { kind: 'first' | 'last'; column: string; time: string }
  /** The sum of the areas in m² or of the lengths in m, on the ellipsoid. */
  | { kind: 'area' | 'length' }

/** A dimension or a measure, and the name of its column in the result. */
export type Named<T> = T & { name: string }

/** Text of GeoJSON in UTF-8, or well-known binary. */
export type GeometryForm = 'geojson' | 'wkb'

export interface AggregateQuery {
  groupby: readonly Named<Dimension>[]
  measures: readonly Named<Measure>[]
  /** A condition in CQL2 text on the columns of the result, whose names are quoted in it; null if there is none. */
  having: string | null
  /** Columns of the result. Equal groups, and all groups without it, are in the order of their values. */
  sort: readonly { name: string; isDescending: boolean }[]
  offset: number
  limit: number
  /** Whether the result has the groups after its last row, as one. */
  others: boolean
  /** In which form the result has the geometries of cells or zones; null for none. */
  geometry: GeometryForm | null
  /** Which features are counted, beside the conditions that a plan holds. */
  box: BoxQuery | null
}

export type ResultValue = string | number | bigint | boolean | null

export interface ResultColumn {
  name: string
  type: Exclude<ColumnType, 'json'>
  /** The column of the dataset whose unit the values have. */
  unitOf?: string
  unit?: string
}

export interface AggregateResult {
  columns: ResultColumn[]
  /** The groups from `offset` on, at most `limit`. */
  rows: ResultValue[][]
  /** By row, in the form that was asked for; null if there was none. */
  geometries: (Uint8Array | null)[] | null
  /** The number of all groups that meet `having`. */
  numberGroups: number
  /**
   * The groups after the last row, as one row: null for its dimensions, and for measures that cannot be computed from
   * those of its groups. Null if there are no more groups, or if they were not asked for.
   */
  others: ResultValue[] | null
}

/** The max numbers of dimensions and measures of a query. */
export const MAX_DIMENSIONS = 3
export const MAX_MEASURES = 16
/** The max number of groups, and of values (groups times measures), that a query may have in memory. */
export const MAX_GROUPS = 1 << 18
export const MAX_VALUES = 1 << 20
