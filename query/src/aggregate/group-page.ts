import type { TimedWork } from '../work/timed-work.ts'
import type { AggregateQuery, AggregateResult, ResultColumn, ResultValue } from './aggregate-query.ts'
import type { GroupDimension } from './group-dimension.ts'
import type { GroupMeasures } from './group-measures.ts'
import type { GroupNumbers } from './group-numbers.ts'
import { havingTest } from './having-test.ts'
import { sortGroups } from './sort-groups.ts'

type Key = number | bigint | string | null

/** Groups between two looks at the clock. */
const STEP = 256

/** The groups of a query after the last feature: which of them are in the result, in which order. */
export class GroupPage {
  readonly #query: AggregateQuery
  readonly #dimensions: readonly GroupDimension[]
  readonly #numbers: GroupNumbers
  readonly #measures: GroupMeasures

  constructor(
    query: AggregateQuery,
    dimensions: readonly GroupDimension[],
    numbers: GroupNumbers,
    measures: GroupMeasures,
  ) {
    this.#query = query
    this.#dimensions = dimensions
    this.#numbers = numbers
    this.#measures = measures
  }

  async read(work: TimedWork): Promise<AggregateResult> {
    const { offset, limit, geometry } = this.#query
    const groups = await this.#selected(work)
    const sorted = await this.#sorted(groups, Math.max(0, offset + limit), work)
    const page = sorted.subarray(offset, offset + limit)
    const rows: ResultValue[][] = []
    await work.each(page.length, (i) => rows.push(this.#row(page[i]!)))
    return {
      columns: this.#columns(),
      rows,
      geometries: geometry ? await this.#geometries(page) : null,
      numberGroups: groups.length,
    }
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
    const groups = new Uint32Array(counts.length)
    let length = 0
    for (let group = 0; group < counts.length; group++) {
      if (group % STEP === 0) await work.next()
      if (counts[group] === 0 && !isWhole) continue
      if (having === null || having(this.#row(group))) groups[length++] = group
    }
    return groups.subarray(0, length)
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
    const indexes = await sortGroups(Uint32Array.from(groups.keys()), compare, work)
    return indexes.map((index) => groups[index]!)
  }

  async #keys(groups: Uint32Array, read: (group: number) => Key, work: TimedWork): Promise<Key[]> {
    const keys: Key[] = []
    for (let i = 0; i < groups.length; i++) {
      keys.push(read(groups[i]!))
      if (i % STEP === 0) await work.next()
    }
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

  async #geometries(page: Uint32Array): Promise<AggregateResult['geometries']> {
    const index = this.#dimensions.findIndex(({ geometry }) => geometry !== undefined)
    const geometries: AggregateResult['geometries'] = []
    for (const group of page) {
      const part = this.#numbers.parts(group)[index]!
      geometries.push(part === 0 ? null : await this.#dimensions[index]!.geometry!(part))
    }
    return geometries
  }
}

/** Nulls come last in both directions. */
function compareKeys(a: Key, b: Key, isDescending: boolean): number {
  if (a === b) return 0
  if (a === null) return 1
  if (b === null) return -1
  return a < b === isDescending ? 1 : -1
}
