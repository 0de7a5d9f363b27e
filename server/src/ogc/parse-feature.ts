import type { Geometry, Value } from '@wayleave/geodata/feature.ts'

/** Sixteen digits in a row: perhaps an integer that a double would damage. */
const LONG_INTEGER = /[:,[]-?\d{16}/
const INTEGER = /^-?\d+$/

export interface ParsedFeature {
  id: string | number | bigint
  geometry: Geometry | null
  properties: { [name: string]: Value }
}

/** A feature of the pack, its integers exact: those beyond 2^53 are bigint. */
export function parseFeature(bytes: Buffer, start = 0, end = bytes.length): ParsedFeature {
  const text = bytes.toString('utf8', start, end)
  return (LONG_INTEGER.test(text) ? JSON.parse(text, exactly) : JSON.parse(text)) as ParsedFeature
}

function exactly(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source
  const isDamaged =
    typeof value === 'number' && !Number.isSafeInteger(value) && source && INTEGER.test(source)
  return isDamaged ? BigInt(source) : value
}
