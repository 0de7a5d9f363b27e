/** What a query may not exceed. */
export type QueryLimit =
  | 'searches'
  | 'pages'
  | 'queries'
  | 'extracts'
  | 'query-time'
  | 'query-memory'
  | 'filter-cost'
  | 'aggregates'

/**
 * - `invalid-filter`: the filter is wrong, or evaluating it costs more than a query may.
 * - `invalid-parameter`: another condition is wrong; `parameter` names it.
 * - `too-many-groups`: the result would have more groups than a query may.
 * - `overloaded`: others are served first; the same query may succeed later.
 */
export type QueryErrorCode = 'invalid-filter' | 'invalid-parameter' | 'too-many-groups' | 'overloaded'

/** The only error type with which the engine refuses a query. `message` is for the author of the query. */
export class QueryError extends Error {
  override name = 'QueryError'
  readonly code: QueryErrorCode
  readonly parameter: string | undefined
  /** The limit that was reached. */
  readonly limit: QueryLimit | undefined

  constructor(
    code: QueryErrorCode,
    message: string,
    { parameter, limit }: { parameter?: string; limit?: QueryLimit | undefined } = {},
  ) {
    super(message)
    this.code = code
    this.parameter = parameter
    this.limit = limit
  }
}

export function invalidParameter(parameter: string, message: string): QueryError {
  return new QueryError('invalid-parameter', message, { parameter })
}
