/** The parts of JSON Schema that the contract uses. */
interface JsonSchema {
  type?: string
  description?: string
  enum?: string[]
  nullable?: boolean
  items?: JsonSchema
  minItems?: number
  maxItems?: number
  properties?: Record<string, JsonSchema>
  required?: string[]
}

/** The width at which the formatter breaks a line. */
const WIDTH = 110

/** Schemas that have a name of their own in the text, so that other types refer to them by it. */
export type NamedSchemas = Record<string, { schema: object; description?: string }>

/** The TypeScript declarations of schemas, formatted as the project formats its code. */
export function typeText(named: NamedSchemas): string {
  const names = new Map(Object.entries(named).map(([name, { schema }]) => [JSON.stringify(schema), name]))
  return Object.entries(named)
    .map(([name, { schema, description }]) => interfaceText(name, schema, description, names))
    .join('\n')
}

/** A union of literals, on one line if it fits. */
export function unionText(name: string, values: readonly string[]): string {
  const literals = values.map((value) => `'${value}'`)
  const line = `export type ${name} = ${literals.join(' | ')}\n`
  return line.length <= WIDTH + 1
    ? line
    : `export type ${name} =\n${literals.map((one) => `  | ${one}\n`).join('')}`
}

function interfaceText(
  name: string,
  schema: JsonSchema,
  description: string | undefined,
  names: ReadonlyMap<string, string>,
): string {
  const lines = Object.entries(schema.properties ?? {}).flatMap(([property, part]) => [
    ...comment(part.description, '  '),
    `  ${property}${schema.required?.includes(property) ? '' : '?'}: ${expression(part, names)}`,
  ])
  return `${[...comment(description), `export interface ${name} {`, ...lines, '}'].join('\n')}\n`
}

function comment(text: string | undefined, indent = ''): string[] {
  return text === undefined ? [] : [`${indent}/** ${text} */`]
}

function expression(schema: JsonSchema, names: ReadonlyMap<string, string>): string {
  const { nullable, ...plain } = schema
  if (nullable) return `${expression(plain, names)} | null`
  const name = names.get(JSON.stringify(schema))
  if (name !== undefined) return name
  if (schema.enum) return schema.enum.map((value) => `'${value}'`).join(' | ')
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'number':
      return schema.type
    case 'integer':
      return 'number'
    case 'array':
      return arrayExpression(schema, names)
    default:
      throw new Error(`A schema cannot be written as a type: ${JSON.stringify(schema)}`)
  }
}

function arrayExpression(
  { items, minItems, maxItems }: JsonSchema,
  names: ReadonlyMap<string, string>,
): string {
  const item = expression(items!, names)
  if (minItems !== undefined && minItems === maxItems) return `[${Array(minItems).fill(item).join(', ')}]`
  return item.includes(' ') ? `(${item})[]` : `${item}[]`
}
