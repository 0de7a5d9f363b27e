import { escapeHtml, Html, html } from '../../http/pages/html.ts'
import type { Schema } from './definition.ts'

type SchemaOf = (schema: Schema) => Schema

const MAX_DEPTH = 3

/** Text of the definition: code between backticks and links, everything else escaped. */
export function inline(text: string): Html {
  const marked = escapeHtml(text)
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
    .replaceAll(/\[([^\]]+)\]\((\/[^)\s]*|https?:[^)\s]*)\)/g, '<a href="$2">$1</a>')
  return new Html(marked)
}

/** The properties of an object, or of the objects in a list. */
export function fieldsOf(schema: Schema, schemaOf: SchemaOf, depth = 0): Html | null {
  const own = schemaOf(schema)
  if (own.type === 'array' && own.items) return fieldsOf(own.items, schemaOf, depth)
  const parts = [own, ...[...(own.oneOf ?? []), ...(own.anyOf ?? []), ...(own.allOf ?? [])].map(schemaOf)]
  const rows = parts.flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties).map(([name, property]) =>
      field(name, property, required.includes(name), schemaOf, depth),
    ),
  )
  return rows.length === 0 || depth >= MAX_DEPTH ? null : html`<ul class="fields">${rows}</ul>`
}

/** A parameter or a property with its type, its limits and what it means. */
export function field(
  name: string,
  schema: Schema,
  isRequired: boolean,
  schemaOf: SchemaOf,
  depth: number,
): Html {
  const own = { ...schemaOf(schema), ...schema }
  const inner = fieldsOf(schema, schemaOf, depth + 1)
  const required = isRequired ? html` <span class="required">required</span>` : null
  const limits = limitsOf(own)
  return html`<li><div class="field-name"><code>${name}</code> <span class="soft">${typeText(schema, schemaOf)}</span>${required}</div>${own.description ? html`<div>${inline(own.description)}</div>` : null}${limits === '' ? null : html`<div class="soft">${inline(limits)}</div>`}${inner && html`<details><summary>Properties of <code>${name}</code></summary>${inner}</details>`}</li>`
}

const TYPES: Record<string, string> = {
  string: 'text',
  integer: 'integer',
  number: 'number',
  boolean: 'true or false',
  object: 'object',
}

const FORMATS: Record<string, string> = {
  'date-time': 'time',
  date: 'date',
  email: 'mail address',
  uri: 'address',
  binary: 'file',
}

export function typeText(schema: Schema, schemaOf: SchemaOf): string {
  const { type, format, items, nullable, oneOf, anyOf, enum: values } = schemaOf(schema)
  const orNull = nullable ? ' or null' : ''
  if (type === 'array') return `list of ${items ? typeText(items, schemaOf) : 'values'}${orNull}`
  if (values && type === undefined) return `text${orNull}`
  const choices = oneOf ?? anyOf
  if (choices && type === undefined)
    return [...new Set(choices.map((one) => typeText(one, schemaOf)))].join(' or ')
  return `${FORMATS[format ?? ''] ?? TYPES[type ?? ''] ?? 'any value'}${orNull}`
}

const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 12 })

const count = (value: number) => NUMBER.format(value)

function limitsOf(schema: Schema): string {
  const { enum: values, default: usual, minimum, maximum, maxLength } = schema
  const parts: string[] = []
  const shown = values?.filter((value) => value !== null)
  if (shown && shown.length > 0) parts.push(`One of ${shown.map((value) => `\`${value}\``).join(', ')}.`)
  if (usual !== undefined && usual !== null) parts.push(`Default: \`${JSON.stringify(usual)}\`.`)
  const isSafe = (value: number | undefined): value is number =>
    value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER
  if (isSafe(minimum) && isSafe(maximum)) parts.push(`From ${count(minimum)} to ${count(maximum)}.`)
  else if (isSafe(minimum)) parts.push(`${count(minimum)} or more.`)
  else if (isSafe(maximum)) parts.push(`${count(maximum)} or less.`)
  if (maxLength !== undefined) parts.push(`Up to ${count(maxLength)} characters.`)
  return parts.join(' ')
}
