import { readFileSync } from 'node:fs'
import { type Html, html } from '../http/pages/html.ts'
import { type ProblemCode, problems } from '../problem.ts'
import { renderMarkdown } from './markdown.ts'
import { documentationPage, type PageLink } from './page.ts'

const FOLDER = new URL('../../../docs/', import.meta.url)

/** The pages in the order in which a new user reads them. */
export const PAGES = [
  'index',
  'getting-started',
  'publishing',
  'keys-and-access',
  'downloads',
  'explorer',
  'ogc',
  'tiles',
  'python',
  'javascript',
  'operating',
  'scaling',
  'settings',
  'problems',
] as const

/** Renders each Markdown file of docs/ once. */
export class Documentation {
  readonly #rendered = new Map<string, { title: string; content: Html }>()
  #links: PageLink[] | undefined

  /** Returns undefined if there is no such page. */
  page(name: string): string | undefined {
    if (!(PAGES as readonly string[]).includes(name)) return undefined
    const { title, content } = this.#render(name)
    return documentationPage(title, pathOf(name), this.#menu(), content)
  }

  problem(code: string): string | undefined {
    if (!Object.hasOwn(problems, code)) return undefined
    const [status, title, help] = problems[code as ProblemCode]
    const content = html`<h1>${title}</h1>
<p><code>${code}</code>, status ${status}.</p>
<p>${help}</p>
<p><a href="/docs/problems">All problems</a></p>`
    return documentationPage(title, `/problems/${code}`, this.#menu(), content)
  }

  apiReference(): string {
    const content = html`<h1>API reference</h1>
<p>Made from the <a href="/v1/openapi.json">API definition</a> that the service itself validates by. OGC API - Features has a <a href="/v1/ogc/api?f=html">definition of its own</a>, as the standard asks. A key or token that you give here stays in this page.</p>
<form class="credentials" id="credentials" autocomplete="off">
<label>API key <input name="key" type="password" autocomplete="off" spellcheck="false"></label>
<label>Bearer token <input name="token" type="password" autocomplete="off" spellcheck="false"></label>
</form>
<div id="operations" aria-live="polite"><p>Loading…</p></div>`
    return documentationPage(
      'API reference',
      '/docs/api',
      this.#menu(),
      content,
      '/docs/assets/api-reference.js',
    )
  }

  #menu(): PageLink[] {
    this.#links ??= [
      ...PAGES.map((name) => ({ href: pathOf(name), title: this.#render(name).title })),
      { href: '/docs/api', title: 'API reference' },
    ]
    return this.#links
  }

  #render(name: string): { title: string; content: Html } {
    let rendered = this.#rendered.get(name)
    if (!rendered) {
      rendered = renderMarkdown(readFileSync(new URL(`${name}.md`, FOLDER), 'utf8'))
      this.#rendered.set(name, rendered)
    }
    return rendered
  }
}

function pathOf(name: string): string {
  return name === 'index' ? '/docs' : `/docs/${name}`
}
