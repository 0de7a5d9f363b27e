import type { FastifyRequest } from 'fastify'
import type { Problem } from '../../problem.ts'
import type { About } from '../about.ts'
import { html } from './html.ts'
import { plainPage } from './page-layout.ts'

/** Whether a browser loads a page. Clients of `/v1` are programs and get problems as JSON. */
export function isBrowsing({ method, url, headers }: FastifyRequest): boolean {
  const isPage = (method === 'GET' || method === 'HEAD') && !/^\/v1(?:[/?]|$)/.test(url)
  return isPage && /(?:^|,)\s*text\/html\s*(?:[,;]|$)/i.test(headers.accept ?? '')
}

/** Renders a problem as an HTML page. */
export function problemPage({ title, detail, code }: Problem, requestId: string, about: About): string {
  const content = html`<h1>${title}</h1>
${detail ? html`<p>${detail}</p>` : ''}
<p>Go to the <a href="/">start page</a> or the <a href="/docs">documentation</a>, or read what <a href="/problems/${code}"><code>${code}</code></a> means.</p>
<p>If you ask for help, name this request: <code>${requestId}</code></p>`
  return plainPage({ about, title, content })
}
