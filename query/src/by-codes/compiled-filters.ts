import type { Snapshot } from '@wayleave/geodata/features'
import { columnsOf } from '../cql2/columns-of.ts'
import type { Condition } from '../cql2/condition.ts'
import { hasTable } from './block-bits.ts'
import type { PositionExpression } from './compile-condition.ts'
import type { PositionFilter } from './position-filter.ts'

/** A filter whose sets of codes take more bytes than this is compiled each time. */
const MAX_BYTES = 1000

interface CompiledFilter {
  filter: PositionFilter
  /** The names of its columns. */
  columns: readonly string[]
}

/**
 * The compiled filters of conditions on columns, for requests that are repeated: compiling AND and IN takes about as
 * long as finding the first ten positions. A filter is kept as long as its condition object and its snapshot are in
 * use elsewhere. It refers to columns, so all filters are dropped when the cache of columns evicts one.
 */
export class CompiledFilters {
  #filters = new WeakMap<Snapshot, WeakMap<Condition, CompiledFilter>>()

  get(snapshot: Snapshot, condition: Condition): CompiledFilter | undefined {
    return this.#filters.get(snapshot)?.get(condition)
  }

  keep(snapshot: Snapshot, condition: Condition, filter: PositionFilter): void {
    if (bytesOf(filter.expression) > MAX_BYTES) return
    let filters = this.#filters.get(snapshot)
    if (filters === undefined) {
      filters = new WeakMap()
      this.#filters.set(snapshot, filters)
    }
    filters.set(condition, { filter, columns: columnsOf(condition).columns })
  }

  clear(): void {
    this.#filters = new WeakMap()
  }
}

/** What the sets of a filter take; infinitely much if it has a mask of places. */
function bytesOf(expression: PositionExpression): number {
  switch (expression.kind) {
    case 'all':
    case 'none':
      return 0
    case 'codes':
      return expression.set.length * 8 + (hasTable(expression) ? expression.column.codeCount : 0)
    case 'mask':
      return Infinity
    case 'and':
    case 'or':
      return expression.args.reduce((sum, arg) => sum + bytesOf(arg), 0)
  }
}
