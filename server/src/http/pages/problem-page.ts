import { withCodeNames } from '@wayleave/contract/code-names'
import type { FastifyRequest } from 'fastify'
import type { Problem } from '../../base/problem.ts'
import type { About } from '../about.ts'
import { type FailedRequest, failedRequest } from './failed-request.ts'
import { type Content, type Html, html } from './html.ts'
import { plainPage } from './page-layout.ts'
import { explanationOf, type Way } from './problem-ways.ts'

/** Pages of the API, which are asked for by name, or opened in the address bar of a browser. */
const API_PAGE = /^\/v1\/(?:ogc|records)\b.*[?&]f=html(?:&|$)/
const API_DOCUMENT = /^\/v1\/(?:ogc|records)\b(?!.*[?&]f=)/

/**
 * Whether a browser loads a page. Clients of `/v1` are programs and get problems as JSON, unless they ask for a page of
 * the OGC API.
 */
export function isBrowsing({ method, url, headers }: FastifyRequest): boolean {
  const isOpened = headers['sec-fetch-dest'] === 'document' && API_DOCUMENT.test(url)
  const isApi = /^\/v1(?:[/?]|$)/.test(url) && !API_PAGE.test(url) && !isOpened
  const isPage = (method === 'GET' || method === 'HEAD') && !isApi
  return isPage && /(?:^|,)\s*text\/html\s*(?:[,;]|$)/i.test(headers.accept ?? '')
}

interface ProblemPlace {
  request: FailedRequest & { id: string }
  baseUrl: string
  about: About
}

/** Renders a problem as an HTML page: what happened, why, where to go on, and how to repeat the request. */
export function problemPage(problem: Problem, { request, baseUrl, about }: ProblemPlace): string {
  const { title, detail, code, status } = problem
  const { why, ways } = explanationOf(code, status)
  const content = html`<h1>${title}</h1>
${detail ? html`<p>${withCode(withCodeNames(detail))}</p>` : ''}
<p>${why}</p>
${wayLinks(ways)}
${failedRequest(request, baseUrl, problem)}
<p class="small soft">If you ask for help, name the problem <a href="/problems/${code}"><code>${code}</code></a> and this request: <code>${request.id}</code>${helpLink(about)}</p>`
  const needsKey = code === 'key-missing' || code === 'key-invalid'
  const scripts = ['/docs/assets/docs.js', ...(needsKey ? ['/docs/assets/as-user.js'] : [])]
  return plainPage({ about, title, content, scripts })
}

/** The first way as a button, the others beside it, and the start page for everybody. */
export function wayLinks(ways: readonly Way[]): Html {
  const links = ways.map(({ href, text }, i) => {
    // Who is signed in does not see it.
    const account = href === '/sign-in' ? html` data-account="sign-in"` : ''
    return html`<a class="button${i === 0 ? ' primary' : ''}" href="${href}"${account}>${text}</a>`
  })
  return html`<p class="row">${links}<a class="button" href="/">Go to the start page</a></p>`
}

function helpLink({ contact }: About): Content {
  const href = contact?.url ?? (contact?.email === undefined ? undefined : `mailto:${contact.email}`)
  return href === undefined ? '' : html`. <a href="${href}">${contact?.name ?? 'Ask the operator'}</a>`
}

/** Details mark names in backticks, as Markdown does. */
function withCode(detail: string): Content[] {
  return detail.split(/`([^`]+)`/).map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part))
}
