import { isNumberFormat } from '@wayleave/contract/column-formats'
import type { PublishingSchema } from '@wayleave/contract/records'
import { jsonShape } from '@wayleave/geodata/base'
import { invalidInput } from '../../../base/problem.ts'

const MAX_DEPTH = 3
/** More than a column has members. */
const COMMAS_PER_COLUMN = 11
/** More than a schema has members beside its columns. */
const OTHER_MEMBERS = 20
const MAX_COLUMNS = 10_000

/**
 * Whether a text may be a schema of `columns` columns. Other JSON of its size could take a second to parse, for which
 * all requests would wait.
 */
export function hasShapeOfSchema(json: string | Uint8Array, columns = MAX_COLUMNS): boolean {
  const maxCommas = columns * COMMAS_PER_COLUMN + OTHER_MEMBERS
  const { depth, commas } = jsonShape(json, { depth: MAX_DEPTH, commas: maxCommas })
  return depth <= MAX_DEPTH && commas <= maxCommas
}

/** Checks what the form of a schema does not show. */
export function checkSchema(schema: PublishingSchema): PublishingSchema {
  const names = new Set<string>()
  const sources = new Set<string>()
  for (const [i, { name, source = name, type, format, hidden }] of schema.columns.entries()) {
    const path = `columns/${i}`
    const key = name.toLowerCase()
    if (sources.has(source)) throw invalidInput(path, `"${source.slice(0, 80)}" occurs twice`)
    if (!hidden && names.has(key)) throw invalidInput(path, `the name "${name.slice(0, 80)}" occurs twice`)
    sources.add(source)
    if (!hidden) names.add(key)
    if (format === undefined || type === undefined || type === 'text') continue
    const fits = isNumberFormat(format)
      ? type === 'number' || type === 'integer'
      : type === 'date' || type === 'timestamp'
    if (!fits) throw invalidInput(path, `the format ${format} is not one of the type ${type}`)
  }
  if ((schema.longitude === undefined) !== (schema.latitude === undefined))
    throw invalidInput('longitude', 'is given together with latitude')
  return schema
}
