import { copyBytes } from '../bytes/copy-bytes.ts'
import { PropertySlices } from '../pack/property-slices.ts'
import type { Manifest } from './manifest.ts'
import { hasRenamedRows, rowNames } from './row-names.ts'

/** Copies the members of a feature's properties, without the braces, under the names that rows have. */
export class RenamedProperties {
  /** How much longer the properties of a row may be than those of its feature. */
  readonly extraBytes: number = 0
  readonly #heads: Buffer[] | null = null
  readonly #values: PropertySlices

  constructor({ columns, geometryType }: Pick<Manifest, 'columns' | 'geometryType'>) {
    this.#values = new PropertySlices(columns)
    if (!hasRenamedRows(columns, geometryType !== null)) return
    this.#heads = rowNames(columns, true).map((name, i) =>
      Buffer.from(`${i === 0 ? '' : ','}${JSON.stringify(name)}:`),
    )
    this.extraBytes = columns.length * 16
  }

  putMembers(bytes: Buffer, start: number, end: number, out: Buffer, at: number): number {
    if (this.#heads === null) return copyBytes(bytes, start + 1, end - 1, out, at)
    const values = this.#values
    values.locate(bytes, start, end)
    let next = at
    for (const [i, head] of this.#heads.entries()) {
      next = copyBytes(head, 0, head.length, out, next)
      next = copyBytes(bytes, values.starts[i]!, values.ends[i]!, out, next)
    }
    return next
  }
}
