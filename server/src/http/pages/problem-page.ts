import type { FastifyRequest } from 'fastify'
import type { Problem } from '../../base/problem.ts'
import type { About } from '../about.ts'
import { type Content, html } from './html.ts'
import { plainPage } from './page-layout.ts'

/** Pages of the API, which are asked for by name. */
const API_PAGE = /^\/v1\/(?:ogc|records)\b.*[?&]f=html(?:&|$)/

/**
 * Whether a browser loads a page. Clients of `/v1` are programs and get problems as JSON, unless they ask for a page of
 * the OGC API.
 */
export function isBrowsing({ method, url, headers }: FastifyRequest): boolean {
  const isApi = /^\/v1(?:[/?]|$)/.test(url) && !API_PAGE.test(url)
  const isPage = (method === 'GET' || method === 'HEAD') && !isApi
  return isPage && /(?:^|,)\s*text\/html\s*(?:[,;]|$)/i.test(headers.accept ?? '')
}

/** Renders a problem as an HTML page. */
export function problemPage({ title, detail, code }: Problem, requestId: string, about: About): string {
  const content = html`<h1>${title}</h1>
${detail ? html`<p>${withCode(detail)}</p>` : ''}
<p>Go to the <a href="/">start page</a> or the <a href="/docs">documentation</a>, or read what <a href="/problems/${code}"><code>${code}</code></a> means.</p>
<p>If you ask for help, name this request: <code>${requestId}</code></p>`
  return plainPage({ about, title, content })
}

/** Details mark names in backticks, as Markdown does. */
function withCode(detail: string): Content[] {
  return detail.split(/`([^`]+)`/).map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part))
}
