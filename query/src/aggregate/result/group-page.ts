import type { CompiledColumn } from '@wayleave/geodata/features'
import type { TimedWork } from '../../work/timed-work.ts'
import type {
  AggregateQuery,
  AggregateResult,
  GeometryForm,
  ResultColumn,
  ResultValue,
} from '../aggregate-query.ts'
import type { ColumnCode, GroupDimension } from '../groups/group-dimension.ts'
import type { GroupNumbers } from '../groups/group-numbers.ts'
import type { GroupMeasures } from '../measures/group-measures.ts'
import { havingTest } from './having-test.ts'
import { sortGroups } from './sort-groups.ts'

type Key = number | bigint | string | null

/** Groups between two looks at the clock. */
const STEP = 256
/** The same if a condition is evaluated, which may have hundreds of parts. */
const HAVING_STEP = 16
/** Numbers that are copied between two looks at the clock. */
const COPY_STEP = 1 << 14

/** Reads the values of codes; null if all values are in memory. */
export type ReadValues = ((column: CompiledColumn, codes: readonly Uint32Array[]) => Promise<void>) | null

export interface GroupParts {
  dimensions: readonly GroupDimension[]
  numbers: GroupNumbers
  measures: GroupMeasures
  readValues: ReadValues
}

/** The groups of a query after the last feature: which of them are in the result, in which order. */
export class GroupPage {
  readonly #query: AggregateQuery
  readonly #dimensions: readonly GroupDimension[]
  readonly #numbers: GroupNumbers
  readonly #measures: GroupMeasures
  readonly #readValues: ReadValues

  constructor(query: AggregateQuery, { dimensions, numbers, measures, readValues }: GroupParts) {
    this.#query = query
    this.#dimensions = dimensions
    this.#numbers = numbers
    this.#measures = measures
    this.#readValues = readValues
  }

  async read(work: TimedWork): Promise<AggregateResult> {
    const { offset, limit, geometry, others } = this.#query
    const groups = await this.#selected(work)
    const sorted = await this.#sorted(groups, Math.max(0, offset + limit), work)
    const page = sorted.subarray(offset, offset + limit)
    await this.#loadValues(page, work)
    const rows: ResultValue[][] = []
    await work.each(page.length, (i) => rows.push(this.#row(page[i]!)))
    return {
      columns: this.#columns(),
      rows,
      geometries: geometry === null ? null : await this.#geometries(page, geometry, work),
      numberGroups: groups.length,
      // Last, because it changes the measures.
      others: others ? await this.#others(sorted.subarray(offset + limit), work) : null,
    }
  }

  /** The groups after the page, merged into the first of them. */
  async #others(rest: Uint32Array, work: TimedWork): Promise<ResultValue[] | null> {
    const into = rest[0]
    if (into === undefined) return null
    await work.each(rest.length - 1, (i) => this.#measures.merge(rest[i + 1]!, into))
    await this.#loadValues(Uint32Array.of(into), work)
    const keys = this.#dimensions.flatMap(({ columns }) => columns.map(() => null))
    const { measures } = this.#measures
    return [...keys, ...measures.map((each) => (each.isMergeable ? each.value(into) : null))]
  }

  #columns(): ResultColumn[] {
    const own = this.#dimensions.flatMap(({ columns }) => columns)
    return [...own, ...this.#measures.measures.map(({ column }) => column)]
  }

  #row(group: number): ResultValue[] {
    const parts = this.#numbers.parts(group)
    const values = this.#dimensions.flatMap((dimension, i) => dimension.values(parts[i]!))
    for (const measure of this.#measures.measures) values.push(measure.value(group))
    return values
  }

  /** The groups that have features and meet `having`. Without `groupby` there is one, also if no feature matches. */
  async #selected(work: TimedWork): Promise<Uint32Array> {
    const { counts } = this.#measures
    const having = this.#query.having === null ? null : havingTest(this.#query.having, this.#columns())
    const isWhole = this.#dimensions.length === 0
    const groups = await this.#filtered(counts.length, (group) => isWhole || counts[group] !== 0, work)
    if (having === null) return groups
    await this.#loadValues(groups, work)
    const meets = await this.#filtered(groups.length, (i) => having(this.#row(groups[i]!)), work, HAVING_STEP)
    return picked(groups, meets, work)
  }

  /** The numbers below `count` for which the test is true. */
  async #filtered(
    count: number,
    test: (number: number) => boolean,
    work: TimedWork,
    step = STEP,
  ): Promise<Uint32Array> {
    const numbers = new Uint32Array(count)
    let length = 0
    await work.inSteps(count, step, (from, to) => {
      for (let number = from; number < to; number++) if (test(number)) numbers[length++] = number
    })
    return numbers.subarray(0, length)
  }

  async #loadValues(groups: Uint32Array, work: TimedWork): Promise<void> {
    if (this.#readValues === null) return
    if (groups.length === 0) return
    const codes = new Map<CompiledColumn, Uint32Array[]>()
    const collect = async (codeOf: (group: number) => ColumnCode) => {
      const { column } = codeOf(groups[0]!)
      const own = new Uint32Array(groups.length)
      await work.inSteps(own.length, STEP, (from, to) => {
        for (let i = from; i < to; i++) own[i] = codeOf(groups[i]!).code
      })
      codes.set(column, [...(codes.get(column) ?? []), own])
    }
    for (const [i, dimension] of this.#dimensions.entries())
      if (dimension.code) await collect((group) => dimension.code!(this.#numbers.parts(group)[i]!))
    for (const measure of this.#measures.measures)
      if (measure.code) await collect((group) => measure.code!(group))
    for (const [column, lists] of codes) await this.#readValues(column, lists)
  }

  async #sorted(groups: Uint32Array, wanted: number, work: TimedWork): Promise<Uint32Array> {
    if (groups.length < 2 || wanted === 0) return groups
    const keys: { of: Key[]; isDescending: boolean }[] = []
    for (const { name, isDescending } of this.#query.sort) {
      keys.push({ of: await this.#keys(groups, this.#keyReader(name), work), isDescending })
    }
    for (const [i] of this.#dimensions.entries()) {
      keys.push({ of: await this.#keys(groups, this.#dimensionReader(i), work), isDescending: false })
    }
    const compare = (a: number, b: number): number => {
      for (const { of, isDescending } of keys) {
        const order = compareKeys(of[a]!, of[b]!, isDescending)
        if (order !== 0) return order
      }
      return a - b
    }
    const indexes = new Uint32Array(groups.length)
    await work.inSteps(indexes.length, COPY_STEP, (from, to) => {
      for (let i = from; i < to; i++) indexes[i] = i
    })
    return picked(groups, await sortGroups(indexes, compare, work), work)
  }

  async #keys(groups: Uint32Array, read: (group: number) => Key, work: TimedWork): Promise<Key[]> {
    const keys: Key[] = []
    await work.inSteps(groups.length, STEP, (from, to) => {
      for (let i = from; i < to; i++) keys.push(read(groups[i]!))
    })
    return keys
  }

  /** The name is one of a column of the result. */
  #keyReader(name: string): (group: number) => Key {
    const measure = this.#measures.measures.find(({ column }) => column.name === name)
    if (measure) return (group) => measure.order(group)
    const index = this.#dimensions.findIndex(({ columns }) => columns.some((column) => column.name === name))
    const at = this.#dimensions[index]!.columns.findIndex((column) => column.name === name)
    if (at === 0) return this.#dimensionReader(index)
    return (group) => this.#dimensions[index]!.values(this.#numbers.parts(group)[index]!)[at] as Key
  }

  #dimensionReader(index: number): (group: number) => Key {
    const dimension = this.#dimensions[index]!
    return (group) => {
      const part = this.#numbers.parts(group)[index]!
      return part === 0 ? null : dimension.order(part)
    }
  }

  async #geometries(
    page: Uint32Array,
    form: GeometryForm,
    work: TimedWork,
  ): Promise<AggregateResult['geometries']> {
    const index = this.#dimensions.findIndex(({ geometry }) => geometry !== undefined)
    const geometries: AggregateResult['geometries'] = []
    for (const group of page) {
      const part = this.#numbers.parts(group)[index]!
      geometries.push(part === 0 ? null : await this.#dimensions[index]!.geometry!(part, form))
      await work.next()
    }
    return geometries
  }
}

/** The groups at these indexes. */
async function picked(groups: Uint32Array, indexes: Uint32Array, work: TimedWork): Promise<Uint32Array> {
  const chosen = new Uint32Array(indexes.length)
  await work.inSteps(chosen.length, COPY_STEP, (from, to) => {
    for (let i = from; i < to; i++) chosen[i] = groups[indexes[i]!]!
  })
  return chosen
}

/** Nulls come last in both directions. */
function compareKeys(a: Key, b: Key, isDescending: boolean): number {
  if (a === b) return 0
  if (a === null) return 1
  if (b === null) return -1
  return a < b === isDescending ? 1 : -1
}
