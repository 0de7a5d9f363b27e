import { escapeHtml, Html, html } from '../../http/pages/html.ts'
import { highlight } from '../documentation/highlight.ts'
import { EXAMPLE_ADDRESS } from '../documentation/page-names.ts'
import type { Body, Operation, Parameter } from './definition.ts'
import {
  exampleAddress,
  exampleBody,
  exampleCode,
  jsonBody,
  LANGUAGES,
  type Language,
  parameterExample,
  responseExample,
} from './example-code.ts'
import { field, fieldsOf, inline, typeText } from './schema-view.ts'

const ACCESS: Record<Operation['access'], string> = {
  none: 'Needs no key.',
  'optional-key': 'Works without a key; with one, it also shows what the key may see.',
  key: 'Needs an API key.',
  token: 'Needs the access token of a signed-in user.',
  either: 'Needs a platform administrator’s token, or a platform key with `admin`.',
}

/** One operation: what it does and takes at the left, code and the response at the right. */
export function operationView(operation: Operation): Html {
  const { id, method, path, summary, description, access, parameters, body } = operation
  return html`<section class="operation" id="${id}">
<div class="operation-text">
<h2>${inline(summary)} <a class="anchor" href="#${id}" aria-label="Link to this operation">#</a></h2>
<p class="endpoint"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>
${description === '' ? null : html`<p>${inline(description)}</p>`}
<p class="small soft">${inline(ACCESS[access])}</p>
${section('In the path', parameters, 'path', operation)}
${section('In the query', parameters, 'query', operation)}
${section('Headers', parameters, 'header', operation)}
${body && bodyView(body, operation)}
<h3>Responses</h3>
${responsesView(operation)}
</div>
<div class="operation-code">
${codeView(operation)}
${exampleView(operation)}
${tryView(operation)}
</div>
</section>`
}

function section(
  title: string,
  parameters: readonly Parameter[],
  place: Parameter['in'],
  operation: Operation,
): Html | null {
  const listed = parameters.filter((parameter) => parameter.in === place)
  if (listed.length === 0) return null
  const rows = listed.map(({ name, schema, description, required = false }) =>
    field(name, { ...schema, ...(description ? { description } : {}) }, required, operation.schemaOf, 0),
  )
  return html`<h3>${title}</h3><ul class="fields">${rows}</ul>`
}

function bodyView(body: Body, { schemaOf }: Operation): Html {
  const json = body.content?.['application/json']?.schema
  const types = Object.keys(body.content ?? {})
  const kind = json ? '' : types.map((type) => `\`${type}\``).join(' or ')
  return html`<h3>Body</h3>
${kind === '' ? null : html`<p class="small soft">${inline(kind)}</p>`}
${body.description ? html`<p>${inline(body.description)}</p>` : null}
${json ? fieldsOf(json, schemaOf) : null}`
}

/** What any request can get, whatever it asks for: in one row, so that the others are not lost among them. */
const GENERAL = new Set([408, 413, 415, 429, 431, 500, 503])

function responsesView(operation: Operation): Html {
  const view = (response: Operation['responses'][number]) => responseView(response, operation)
  const general = operation.responses.filter(({ status }) => GENERAL.has(status))
  const own = operation.responses.filter(({ status }) => !GENERAL.has(status))
  const statuses = general.map(({ status }) => status).join(', ')
  return html`<div class="statuses">${own.map(view)}${
    general.length === 0
      ? null
      : html`<details><summary>As any request: ${statuses}</summary><div class="statuses">${general.map(view)}</div></details>`
  }</div>`
}

function responseView(
  { status, description = '', content = {} }: Operation['responses'][number],
  operation: Operation,
): Html {
  const badge = html`<span class="badge ${status < 400 ? 'good' : status < 500 ? 'warn' : 'bad'}">${status}</span>`
  if (status >= 400) {
    const codes = [...description.matchAll(/`([a-z-]+)`: ([^`]*?)\.(?= `|$)/g)]
    if (codes.length > 0) {
      const items = codes.map(
        ([, code, title]) => html`<li><a href="/problems/${code!}"><code>${code!}</code></a> ${title!}.</li>`,
      )
      return html`<details><summary>${badge} ${codes.map(([, , title]) => title!).join(', ')}</summary><ul class="problems">${items}</ul></details>`
    }
  }
  const json = Object.entries(content).find(([type]) => /json$/.test(type))?.[1].schema
  const fields = json ? fieldsOf(json, operation.schemaOf) : null
  const text =
    status >= 400 || description === 'Default Response' || description === ''
      ? (STATUS_WORDS[status] ?? (description || 'Done'))
      : description
  const types = Object.keys(content).join(', ')
  return html`<details><summary>${badge} ${inline(text)}</summary>${types === '' ? null : html`<p class="small soft">${types}</p>`}${fields ?? (types === '' ? html`<p class="small soft">Without a body.</p>` : null)}</details>`
}

/** What a status means if the definition says nothing of its own: the OGC API has one description for all problems. */
const STATUS_WORDS: Record<number, string> = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted',
  204: 'Done',
  304: 'Not changed',
  400: 'A parameter is unknown or has a wrong value; `errors` names it',
  401: 'The key is missing or not valid',
  403: 'The key may not do this',
  404: 'There is no such thing, or the key may not see it',
  406: 'None of the accepted encodings is offered',
  408: 'The request came too slowly',
  413: 'The body or the result is too large',
  415: 'The body has a type that is not supported',
  416: 'The range is outside of the response',
  429: 'Too many requests; `Retry-After` says when to go on',
  431: 'The headers are too large',
  500: 'The service has failed, and its log says why',
  503: 'The service is busy or restarts; `Retry-After` says when to go on',
}

function codeView(operation: Operation): Html {
  const codes = exampleCode(operation)
  const address = exampleAddress(operation)
  const bodies = exampleBody(operation)
  const names = Object.keys(LANGUAGES) as Language[]
  const buttons = names.map(
    (name) =>
      html`<button type="button" data-choose="${name}" aria-pressed="${name === 'curl' ? 'true' : 'false'}">${LANGUAGES[name]}</button>`,
  )
  const blocks = names.map(
    (name) =>
      html`<div data-language="${name}"${name === 'curl' ? '' : html` hidden`}>${codeBlock(codes[name], name === 'curl' ? 'sh' : name, { address, body: bodies?.[name] })}</div>`,
  )
  return html`<div class="languages" role="group" aria-label="Language of the examples">${buttons}</div>${blocks}`
}

function exampleView(operation: Operation): Html | null {
  const example = responseExample(operation)
  if (!example) return null
  return html`<p class="small soft">Response, ${example.status}</p>${codeBlock(JSON.stringify(example.value, null, 2), 'json')}`
}

interface Replaceable {
  address?: string
  body?: string | undefined
}

/** Stands for the body while the code around it is highlighted. */
const BODY = 'bodyOfExample'

/** The script of the page replaces the address and the body by those that the reader fills in. */
function codeBlock(code: string, language: string, { address, body }: Replaceable = {}): Html {
  const around = body === undefined ? code : code.replace(body, BODY)
  let marked = highlight(around, language)
  if (address !== undefined)
    marked = marked.replace(escapeHtml(address), (text) => `<span data-address>${text}</span>`)
  if (body !== undefined) {
    // In a shell it is one text, whatever it contains.
    const highlighted = language === 'sh' ? escapeHtml(body) : highlight(body, language)
    marked = marked.replace(BODY, () => `<span data-body>${highlighted}</span>`)
  }
  return html`<div class="code"><pre tabindex="0"><code>${new Html(marked)}</code></pre><button type="button" class="button small" data-copy hidden>Copy</button></div>`
}

/** A form that sends the request as the signed-in user; the script of the page shows it. */
function tryView(operation: Operation): Html {
  const { id, method, path, parameters, access, body, responses } = operation
  const costs = responses.some(({ status }) => status === 402)
  const rows = parameters
    .filter(({ in: place, name }) => place !== 'header' && name !== 'api_key')
    .sort((a, b) => Number(b.required ?? false) - Number(a.required ?? false))
    .map((parameter) => tryField(operation, parameter))
  const json = jsonBody(operation)
  const bodyField =
    json === undefined
      ? body && html`<p class="small soft">This request takes a file: send it with the code above.</p>`
      : html`<label>Body<textarea name="body" rows="6" spellcheck="false">${json}</textarea></label>`
  const isFile = body !== null && json === undefined
  const hint =
    rows.length === 0 && json === undefined
      ? null
      : html`<p class="small soft">What you fill in shows in the code above.</p>`
  return html`<details class="try" hidden><summary>Try it</summary><form data-try="${id}" data-method="${method}" data-path="${path}" data-access="${access}" data-base="${EXAMPLE_ADDRESS}"${costs ? html` data-costs` : ''}>${hint}${rows}${bodyField}${isFile ? null : html`<button type="submit" class="button primary">Send</button>`}<div role="status"></div></form></details>`
}

function tryField(operation: Operation, parameter: Parameter): Html {
  const { name, in: place, required = false, schema } = parameter
  const example = parameterExample(operation, parameter)
  const isKnown = place === 'path' && /^(table|collectionId|format|tileMatrix.*|tileRow|tileCol)$/.test(name)
  const options = operation.schemaOf(schema).enum
  const mark = required ? html` required` : ''
  const control = options
    ? html`<select name="${place}:${name}">${required ? null : html`<option value=""></option>`}${options.map((value) => html`<option>${String(value)}</option>`)}</select>`
    : html`<input name="${place}:${name}" placeholder="${example}"${isKnown ? html` value="${example}"` : ''}${mark} autocomplete="off" spellcheck="false">`
  return html`<label><span>${name} <span class="soft">${typeText(schema, operation.schemaOf)}</span></span>${control}</label>`
}

/** An operation in the list at the side. */
export function operationLink(operation: Operation): Html {
  const { id, group, method, path, summary } = operation
  const words = escapeHtml(`${method} ${path} ${summary}`.toLowerCase())
  return html`<li data-words="${new Html(words)}"><a href="/docs/api/${group}#${id}">${inline(summary)} <span class="method ${method.toLowerCase()}">${method}</span></a></li>`
}
