import type { Value } from '../../feature.ts'

/** A number, or any other value that is not a text. */
const NUMBER_BYTES = 8

/** The bytes of a row's values: texts by their characters, so that nothing has to be encoded to know it. */
export function rowValueBytes(values: Value[]): number {
  let bytes = NUMBER_BYTES
  for (let i = 0; i < values.length; i++) {
    const value = values[i]
    if (typeof value === 'string') bytes += value.length
    else if (typeof value === 'object') bytes += value === null ? 0 : nestedBytes(value)
    else bytes += NUMBER_BYTES
  }
  return bytes
}

/** Like a value of a row, but a missing one counts too: nested values are written as JSON. */
export function nestedBytes(value: Value): number {
  if (typeof value === 'string') return value.length + 2
  if (value === null || typeof value !== 'object') return NUMBER_BYTES
  let bytes = 2
  if (Array.isArray(value)) for (const inner of value) bytes += nestedBytes(inner)
  else for (const name in value) bytes += name.length + nestedBytes(value[name]!)
  return bytes
}
