type NumberArray = Float64Array | Float32Array | Int32Array | Uint32Array | Uint8Array

/** A copy with twice the length, for arrays that grow: the total work of copying stays linear. */
export function doubled<T extends NumberArray>(array: T): T {
  const Larger = array.constructor as new (length: number) => T
  const larger = new Larger(array.length * 2)
  larger.set(array)
  return larger
}

/** The same for a buffer; its second half is not initialized. */
export function doubledBuffer(bytes: Buffer): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafeSlow(bytes.length * 2)
  bytes.copy(larger)
  return larger
}
