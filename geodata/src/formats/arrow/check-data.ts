import { type Data, type DataType, Type, UnionMode } from 'apache-arrow'

const VIEW_BYTES = 16
const INLINE_BYTES = 12
const checked = new WeakSet<Data>()

/**
 * Throws a RangeError if a column points outside of its buffers. The library reads such values from whatever else is
 * in the file, or as nothing. Every offset, index and length is checked, also of nested columns and dictionaries.
 */
export function checkData(data: Data, name: string): void {
  // Batches share their dictionaries.
  if (checked.has(data)) return
  const { length, nullBitmap, typeId, type } = data
  const bits = Math.ceil(length / 8)
  if (!Number.isSafeInteger(length) || length < 0) refuse(name, 'its length is not a count')
  if (data.nullCount > 0 && typeId !== Type.Null && nullBitmap.byteLength < bits)
    refuse(name, 'the list of its missing values is too short')
  const width = widthOf(type)
  if (width !== null && byteLength(data.values) < Math.ceil((length * width) / 8))
    refuse(name, 'it has fewer values than rows')
  if (hasOffsets(typeId)) checkOffsets(data, name)
  else if (typeId === Type.Utf8View || typeId === Type.BinaryView) checkViews(data, name)
  else if (typeId === Type.Dictionary) checkIndexes(data, name)
  else if (typeId === Type.Union) checkUnion(data, name)
  else if (typeId === Type.FixedSizeList)
    checkChild(data, name, length * (type as unknown as { listSize: number }).listSize)
  else if (typeId === Type.Struct)
    for (const child of data.children)
      if (child.length < length) refuse(name, 'a part of it has too few rows')
  for (const child of data.children ?? []) checkData(child, name)
  for (const part of data.dictionary?.data ?? []) checkData(part, name)
  checked.add(data)
}

function refuse(name: string, reason: string): never {
  throw new RangeError(`column ${name} is damaged: ${reason}`)
}

function byteLength(values: unknown): number {
  return (values as ArrayBufferView | undefined)?.byteLength ?? 0
}

/** The bits that a value takes; null if values have no fixed size, or none of their own. */
function widthOf(type: DataType): number | null {
  switch (type.typeId) {
    case Type.Bool:
      return 1
    case Type.Int:
    case Type.Time:
    case Type.Decimal:
      return (type as unknown as { bitWidth: number }).bitWidth
    case Type.Float:
      return 16 << (type as unknown as { precision: number }).precision
    case Type.Date:
      return (type as unknown as { unit: number }).unit === 0 ? 32 : 64
    case Type.Timestamp:
    case Type.Duration:
      return 64
    case Type.Interval:
      return [32, 64, 128][(type as unknown as { unit: number }).unit] ?? 128
    case Type.FixedSizeBinary:
      return (type as unknown as { byteWidth: number }).byteWidth * 8
    case Type.Utf8View:
    case Type.BinaryView:
      return VIEW_BYTES * 8
    case Type.Dictionary:
      return (type as unknown as { indices: { bitWidth: number } }).indices.bitWidth
    default:
      return null
  }
}

const OFFSET_TYPES = [
  Type.Utf8,
  Type.Binary,
  Type.LargeUtf8,
  Type.LargeBinary,
  Type.List,
  Type.LargeList,
  Type.Map,
]

function hasOffsets(typeId: Type): boolean {
  return OFFSET_TYPES.includes(typeId)
}

/** Offsets must not decrease, and the last one is within the bytes or within the rows of the child. */
function checkOffsets(data: Data, name: string): void {
  const { length } = data
  if (length === 0) return
  const offsets = data.valueOffsets as Int32Array | BigInt64Array
  if (offsets.length < length + 1) refuse(name, 'it has fewer offsets than rows')
  let before = offsets[0]!
  if (before < 0) refuse(name, 'an offset is negative')
  for (let row = 1; row <= length; row++) {
    const offset = offsets[row]!
    if (offset < before) refuse(name, `the offset of row ${row} is before that of the row before`)
    before = offset
  }
  const child = data.children?.[0]
  const end = child ? child.length : byteLength(data.values)
  if (Number(before) > end) refuse(name, `its offsets lead to ${before}, and it ends at ${end}`)
}

/** Longer texts are a range of one of several buffers. */
function checkViews(data: Data, name: string): void {
  const bytes = data.values as unknown as Uint8Array
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const buffers = data.variadicBuffers as readonly Uint8Array[]
  for (let row = 0; row < data.length; row++) {
    const size = view.getInt32(row * VIEW_BYTES, true)
    if ((size >= 0 && size <= INLINE_BYTES) || !data.getValid(row)) continue
    const buffer = buffers[view.getInt32(row * VIEW_BYTES + 8, true)]
    const offset = view.getInt32(row * VIEW_BYTES + 12, true)
    if (size < 0 || buffer === undefined || offset < 0 || offset + size > buffer.byteLength)
      refuse(name, `the text of row ${row + 1} is outside of its buffer`)
  }
}

function checkIndexes(data: Data, name: string): void {
  const indexes = data.values as Int32Array | BigInt64Array
  const size = data.dictionary?.length ?? 0
  for (let row = 0; row < data.length; row++) {
    const index = indexes[row]!
    if ((index < 0 || index >= size) && data.getValid(row))
      refuse(name, `row ${row + 1} refers to value ${index} of a dictionary of ${size}`)
  }
}

function checkUnion(data: Data, name: string): void {
  const { typeIds, mode, typeIdToChildIndex } = data.type as unknown as {
    typeIds: Int32Array
    mode: UnionMode
    typeIdToChildIndex: { [id: number]: number }
  }
  const ids = data.typeIds as Int8Array
  if (ids.length < data.length) refuse(name, 'it has fewer types than rows')
  const offsets = data.valueOffsets as Int32Array | undefined
  if (mode === UnionMode.Dense && (offsets?.length ?? 0) < data.length)
    refuse(name, 'it has fewer offsets than rows')
  for (let row = 0; row < data.length; row++) {
    const id = ids[row]!
    const child = data.children[typeIdToChildIndex[id] ?? -1]
    if (!typeIds.includes(id) || child === undefined)
      refuse(name, `row ${row + 1} has the unknown type ${id}`)
    const place = mode === UnionMode.Dense ? offsets![row]! : row
    if (place < 0 || place >= child.length)
      refuse(name, `row ${row + 1} refers to a value that does not exist`)
  }
}

function checkChild(data: Data, name: string, rows: number): void {
  if ((data.children[0]?.length ?? 0) < rows) refuse(name, 'its lists have fewer values than they should')
}
