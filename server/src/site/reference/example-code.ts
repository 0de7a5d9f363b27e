import { bodyCode } from '../documentation/assets/body-code.js'
import { EXAMPLE_ADDRESS } from '../documentation/page-names.ts'
import type { Operation, Parameter } from './definition.ts'
import { type ExampleContext, exampleOf } from './example-values.ts'

export const LANGUAGES = { curl: 'curl', python: 'Python', javascript: 'JavaScript' } as const
export type Language = keyof typeof LANGUAGES

/** Optional parameters that make an example worth reading, by the end of the path. */
const CHOSEN: [path: RegExp, names: readonly string[]][] = [
  [/\/items$/, ['limit', 'bbox', 'filter']],
  [/\/aggregate$/, ['groupby', 'measures']],
  [/\/facets$/, ['columns']],
  [/\/extract$/, ['filter']],
  [/\/v1\/datasets$/, ['q', 'limit']],
  [/^\/v1\/(inspect|dataset\/\{table\})$/, ['filename']],
]

interface Request {
  method: string
  url: string
  headers: [name: string, value: string, variable: string | null][]
  json: Record<Language, string> | null
  /** The name of the file that is the body. */
  file: string | null
}

/** How to send an operation's request, in each language. The secrets are read from the environment. */
export function exampleCode(operation: Operation): Record<Language, string> {
  const request = requestOf(operation)
  return { curl: curl(request), python: python(request), javascript: javascript(request) }
}

/** The address in the examples of an operation. */
export function exampleAddress(operation: Operation): string {
  return requestOf(operation).url
}

function contextOf(operation: Operation, isRequest: boolean): ExampleContext {
  return { path: operation.path, schemaOf: operation.schemaOf, isRequest }
}

export function parameterExample(operation: Operation, { name, schema }: Parameter): string {
  const value = exampleOf(schema, name, contextOf(operation, true))
  return Array.isArray(value) ? value.join(',') : String(value)
}

/** The body of a request as a JSON text; undefined if it takes none, or a file. */
export function jsonBody(operation: Operation): string | undefined {
  const schema = operation.body?.content?.['application/json']?.schema
  return schema && JSON.stringify(exampleOf(schema, 'body', contextOf(operation, true)), null, 2)
}

/** The body in the examples of an operation; null if it takes none, or a file. */
export function exampleBody(operation: Operation): Record<Language, string> | null {
  const json = jsonBody(operation)
  return json === undefined ? null : bodyCode(json)
}

/** The JSON of the successful response; undefined if it is a file or has no body. */
export function responseExample(operation: Operation): { status: number; value: unknown } | undefined {
  for (const { status, content = {} } of operation.responses) {
    const type = Object.keys(content).find((name) => /json$/.test(name))
    const schema = status < 300 && type && content[type]?.schema
    // A file is not worth showing as one text.
    if (schema && !['string', undefined].includes(operation.schemaOf(schema).type))
      return { status, value: exampleOf(schema, 'response', contextOf(operation, false)) }
  }
  return undefined
}

function requestOf(operation: Operation): Request {
  const { method, path, parameters, access, body } = operation
  const chosen = CHOSEN.find(([pattern]) => pattern.test(path))?.[1] ?? []
  const hasOwnBody = method !== 'GET' && body?.content?.['application/json'] !== undefined
  const query = parameters.filter(
    ({ name, in: place, required }) =>
      place === 'query' && (required || (chosen.includes(name) && !hasOwnBody)),
  )
  const search = query
    .map((parameter) => `${parameter.name}=${encodeURIComponent(parameterExample(operation, parameter))}`)
    .join('&')
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = parameters.find((one) => one.name === name && one.in === 'path')
    return parameter ? encodeURIComponent(parameterExample(operation, parameter)) : name
  })
  const json = exampleBody(operation)
  const isFile = json === null && body?.content?.['application/octet-stream'] !== undefined
  const headers: Request['headers'] = []
  if (access === 'key' || access === 'either' || access === 'optional-key')
    headers.push(['X-API-Key', '', 'WAYLEAVE_API_KEY'])
  if (access === 'token') headers.push(['Authorization', 'Bearer ', 'WAYLEAVE_TOKEN'])
  if (json) headers.push(['Content-Type', 'application/json', null])
  return {
    method,
    url: EXAMPLE_ADDRESS + filled + (search === '' ? '' : `?${search.replaceAll('%2C', ',')}`),
    headers,
    json,
    file: isFile ? 'earthquakes.geojson' : null,
  }
}

function curl({ method, url, headers, json, file }: Request): string {
  const lines = [method === 'GET' ? `curl '${url}'` : `curl -X ${method} '${url}'`]
  for (const [name, value, variable] of headers)
    lines.push(variable ? `-H "${name}: ${value}$${variable}"` : `-H '${name}: ${value}'`)
  if (json) lines.push(`-d '${json.curl}'`)
  if (file) lines.push(`--data-binary '@${file}'`)
  return lines.join(' \\\n  ')
}

function python({ method, url, headers, json, file }: Request): string {
  const entries = headers
    .filter(([name]) => name !== 'Content-Type')
    .map(([name, value, variable]) => {
      const read = `os.environ['${variable}']`
      return `'${name}': ${value === '' ? read : `'${value}' + ${read}`}`
    })
  const parts = [`'${url}'`]
  if (entries.length > 0) parts.push(`headers={${entries.join(', ')}}`)
  if (json) parts.push(`json=${json.python}`)
  if (file) parts.push(`data=open('${file}', 'rb')`)
  const imports = entries.length > 0 ? 'import os\nimport requests' : 'import requests'
  const call = `requests.${method.toLowerCase()}(\n    ${parts.join(',\n    ')},\n)`
  return `${imports}\n\nresponse = ${call}\nresponse.raise_for_status()\nprint(response.text)`
}

function javascript({ method, url, headers, json, file }: Request): string {
  const entries = headers.map(([name, value, variable]) => {
    const key = /^[A-Za-z]+$/.test(name) ? name : `'${name}'`
    if (variable === null) return `${key}: '${value}'`
    return `${key}: ${value === '' ? `process.env.${variable}` : `\`${value}\${process.env.${variable}}\``}`
  })
  const options: string[] = []
  if (method !== 'GET') options.push(`method: '${method}'`)
  if (entries.length > 0) options.push(`headers: { ${entries.join(', ')} }`)
  if (json) options.push(`body: JSON.stringify(${json.javascript})`)
  if (file) options.push(`body: await readFile('${file}')`)
  const start = file ? "import { readFile } from 'node:fs/promises'\n\n" : ''
  const init = options.length === 0 ? '' : `, {\n  ${options.join(',\n  ')},\n}`
  return `${start}const response = await fetch('${url}'${init})
if (!response.ok) throw new Error(await response.text())
console.log(await response.text())`
}
