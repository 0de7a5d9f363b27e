/** What PostgreSQL sends before and after the rows of a binary COPY, and its rows and numbers. */
export const START = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)])
export const END = Buffer.from([0xff, 0xff])

export const int16 = (value: number) => Buffer.from([(value >> 8) & 255, value & 255])
export const int32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
export const int64 = (value: bigint) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(value)
  return bytes
}
export const row = (...fields: (Buffer | null)[]) =>
  Buffer.concat([
    int16(fields.length),
    ...fields.flatMap((field) => (field === null ? [int32(-1)] : [int32(field.length), field])),
  ])
