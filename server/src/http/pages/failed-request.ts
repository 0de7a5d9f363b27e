import type { Problem } from '../../base/problem.ts'
import { redactSecrets } from '../../base/redact.ts'
import { type Content, type Html, html } from './html.ts'

/** Parameters by such names may hold a secret, whatever it looks like. */
const SECRET_NAME =
  /key|token|secret|passw|signature|session|credential|^(?:auth|authorization|code|sig|pw)$/i
const HIDDEN = '…'
const MAX_SHOWN = 300

export interface FailedRequest {
  method: string
  /** The request target: a path with its query. */
  url: string
}

/**
 * The request that failed, with its parameters decoded and what is wrong with them, and the same request as a command.
 * Neither contains a secret, because people paste what they see into mails.
 */
export function failedRequest({ method, url }: FailedRequest, base: string, problem: Problem): Html {
  const [path, query] = splitAt(url, '?')
  const wrong = new Map((problem.errors ?? []).map(({ path, message }) => [path, message]))
  const parameters = readable(query, wrong.has('f'))
  const rows = parameters.map(({ name, value }) => {
    const message = wrong.get(name)
    const shown = value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value
    return html`<dt><code>${name}</code></dt><dd><code>${shown}</code>${message ? html` <span class="wrong">${message}</span>` : ''}</dd>`
  })
  const others = [...wrong].filter(([name]) => !parameters.some((one) => one.name === name))
  return html`<h2>The request</h2>
<p><code>${method} ${redactSecrets(path)}</code> <span class="badge">${problem.status}</span></p>
${rows.length > 0 ? html`<dl class="facts">${rows}</dl>` : ''}
${others.length > 1 ? html`<ul>${others.map(([name, message]) => html`<li><code>${name}</code> ${message}</li>`)}</ul>` : ''}
${path.startsWith('/v1/') ? repeat(base + path, parameters) : ''}`
}

function repeat(address: string, parameters: readonly Parameter[]): Content {
  const command = curlOf(address, parameters)
  const isWhole = !command.includes(HIDDEN)
  return html`<h2>Repeat it</h2>
<p>In a terminal, with your key in the variable <code>WAYLEAVE_API_KEY</code>. ${isWhole ? '' : html`What may be a secret is written as <code>${HIDDEN}</code>. `}The response is the problem as programs get it.</p>
<div class="code"><pre tabindex="0"><code>${command}</code></pre><button class="button small" data-copy hidden>Copy</button></div>`
}

interface Parameter {
  name: string
  value: string
}

/**
 * The parameters, decoded as far as they can be, without what chooses the page, unless that is what is wrong, without a
 * key (the command sends it in the header), and without other secrets.
 */
function readable(query: string, isFormatWrong: boolean): Parameter[] {
  return [...new URLSearchParams(query)]
    .filter(([name, value]) => isFormatWrong || name !== 'f' || value !== 'html')
    .filter(([name]) => name !== 'api_key')
    .map(([name, value]) => ({ name, value: SECRET_NAME.test(name) ? HIDDEN : redactSecrets(value) }))
}

function curlOf(address: string, parameters: readonly Parameter[]): string {
  const header = `-H "X-API-Key: $WAYLEAVE_API_KEY"`
  const data = parameters.map(({ name, value }) => `--data-urlencode ${quoted(`${name}=${value}`)}`)
  // -G sends the data as the query: people read and change it without its encoding.
  const parts = [`curl -i${data.length > 0 ? ' -G' : ''} ${header}`, ...data, quoted(redactSecrets(address))]
  return parts.join(' \\\n  ')
}

/** A word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function splitAt(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark)
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}
