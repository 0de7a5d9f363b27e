import { GrowingBytes } from '../../bytes/growing-bytes.ts'

/** The first bytes of a FlatGeobuf file of version 3. */
export const MAGIC = Buffer.of(0x66, 0x67, 0x62, 0x03, 0x66, 0x67, 0x62, 0x00)

/**
 * A FlatBuffers table written forwards: its vtable, its fields, then the objects they point to. This suffices
 * for FlatGeobuf's header; features have a separate encoder, since there are millions of them.
 */
export type TableField =
  | { u8: number }
  | { u16: number }
  | { i32: number }
  | { u64: number }
  | { text: string }
  | { doubles: readonly number[] }
  | { table: readonly (TableField | null)[] }
  | { tables: readonly (readonly (TableField | null)[])[] }

/** A size-prefixed buffer; `fields` are in the order of the schema, null if absent. */
export function sizePrefixed(fields: readonly (TableField | null)[]): Buffer {
  const out = new Output()
  out.put(4, (view, at) => view.setUint32(at, 0, true))
  out.pointTo(out.skip(4), out.table(fields))
  return out.finish()
}

class Output extends GrowingBytes {
  put(size: number, write: (view: DataView, at: number) => void): number {
    const at = this.skip(size)
    write(this.view, at)
    return at
  }

  /** Allocates `size` bytes, aligned to their own size up to 8, and returns their offset. */
  skip(size: number, alignment = Math.min(size, 8)): number {
    const at = Math.ceil(this.length / alignment) * alignment
    this.reserve(at + size - this.length)
    this.buffer.fill(0, this.length, at + size)
    this.length = at + size
    return at
  }

  pointTo(from: number, to: number): void {
    this.view.setUint32(from, to - from, true)
  }

  table(fields: readonly (TableField | null)[]): number {
    const vtable = this.skip(4 + fields.length * 2, 4)
    const start = this.skip(4, 8)
    this.view.setInt32(start, start - vtable, true)
    const pointers: [number, TableField][] = []
    fields.forEach((field, i) => {
      if (!field) return
      const at = this.#inline(field)
      this.view.setUint16(vtable + 4 + i * 2, at - start, true)
      if (!('u8' in field || 'u16' in field || 'i32' in field || 'u64' in field)) pointers.push([at, field])
    })
    this.view.setUint16(vtable, 4 + fields.length * 2, true)
    this.view.setUint16(vtable + 2, this.length - start, true)
    for (const [at, field] of pointers) this.pointTo(at, this.#target(field))
    return start
  }

  #inline(field: TableField): number {
    if ('u8' in field) return this.put(1, (view, at) => view.setUint8(at, field.u8))
    if ('u16' in field) return this.put(2, (view, at) => view.setUint16(at, field.u16, true))
    if ('i32' in field) return this.put(4, (view, at) => view.setInt32(at, field.i32, true))
    if ('u64' in field) return this.put(8, (view, at) => view.setBigUint64(at, BigInt(field.u64), true))
    return this.skip(4)
  }

  #target(field: TableField): number {
    if ('table' in field) return this.table(field.table)
    if ('text' in field) {
      const text = Buffer.from(field.text)
      const at = this.put(4, (view, at) => view.setUint32(at, text.length, true))
      const from = this.skip(text.length + 1, 1)
      text.copy(this.buffer, from)
      return at
    }
    if ('doubles' in field) {
      if (this.skip(4) % 8 === 0) this.skip(4)
      const at = this.length - 4
      this.view.setUint32(at, field.doubles.length, true)
      for (const double of field.doubles) this.put(8, (view, at) => view.setFloat64(at, double, true))
      return at
    }
    if ('tables' in field) {
      const at = this.put(4, (view, at) => view.setUint32(at, field.tables.length, true))
      const pointers = field.tables.map(() => this.skip(4))
      for (const [i, table] of field.tables.entries()) this.pointTo(pointers[i]!, this.table(table))
      return at
    }
    throw new Error('A field without a target has none to point at.')
  }

  finish(): Buffer {
    this.skip(0, 8)
    this.view.setUint32(0, this.length - 4, true)
    return this.bytes()
  }
}
