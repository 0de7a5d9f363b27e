import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type ProblemCode, problems } from '../../base/problem.ts'
import type { About } from '../../http/about.ts'
import { escapeHtml, Html, html } from '../../http/pages/html.ts'
import { wayLinks } from '../../http/pages/problem-page.ts'
import { explanationOf } from '../../http/pages/problem-ways.ts'
import { renderMarkdown } from './markdown.ts'
import { contentsOf, documentationPage, type MenuGroup } from './page.ts'
import { searchEntries } from './search-entries.ts'

const FOLDER = new URL('../../../../docs/', import.meta.url)

/** The pages in the order in which a new user reads them, by what they are for. */
const GROUPS = [
  ['Start', ['index', 'getting-started', 'tutorial', 'publish-in-five-minutes', 'gallery']],
  [
    'Use data',
    [
      'keys-and-access',
      'billing',
      'downloads',
      'explorer',
      'ogc',
      'cql2',
      'tiles',
      'python',
      'javascript',
      'assistants',
      'webhooks',
    ],
  ],
  [
    'Run the service',
    ['publishing', 'sources', 'operating', 'scaling', 'command-line', 'settings', 'problems'],
  ],
] as const

export const PAGES: readonly string[] = GROUPS.flatMap(([, pages]) => pages)

/** The address in the examples of docs/, which each instance replaces by its own. */
const EXAMPLE_ADDRESS = 'http://127.0.0.1:8080'

/** What the search of the documentation finds, as JSON. */
export interface SearchIndex {
  bytes: Buffer
  etag: string
}

/**
 * Renders the Markdown files of docs/, each once. Clients choose the address in the Host header, so nothing
 * expensive may depend on it: it is put into the finished page.
 */
export class Documentation {
  readonly #about: About
  readonly #pages = new Map<string, string>()
  #menu: MenuGroup[] | undefined
  #searchIndex: SearchIndex | undefined

  constructor(about: About) {
    this.#about = about
  }

  /** Returns undefined if there is no such page. */
  page(name: string, base: string): string | undefined {
    if (!PAGES.includes(name)) return undefined
    let page = this.#pages.get(name)
    if (page === undefined) {
      page = this.#render(name)
      this.#pages.set(name, page)
    }
    return base === '' ? page : page.replaceAll(EXAMPLE_ADDRESS, escapeHtml(base))
  }

  problem(code: string): string | undefined {
    if (!Object.hasOwn(problems, code)) return undefined
    const [status, title, help] = problems[code as ProblemCode]
    const { why, ways } = explanationOf(code as ProblemCode, status)
    const content = html`<h1>${title}</h1>
<h2>What it means</h2>
<p>${inline(help)}</p>
<h2>Why it happened</h2>
<p>${why}</p>
<h2>What you can do</h2>
${wayLinks(ways)}
<h2>For programs</h2>
<p>The response has the status ${status} and the code <code>${code}</code>. <a href="/docs/problems">All problems</a> lists the others.</p>`
    return documentationPage({
      about: this.#about,
      title,
      path: `/problems/${code}`,
      menu: this.#groups(),
      content,
    })
  }

  /** Built once: parsing all pages takes as long as hundreds of other responses. */
  searchIndex(): SearchIndex {
    if (this.#searchIndex === undefined) {
      const entries = PAGES.flatMap((name) =>
        searchEntries(pathOf(name), sourceOf(name).replaceAll(EXAMPLE_ADDRESS, '')),
      )
      const bytes = Buffer.from(JSON.stringify(entries))
      this.#searchIndex = { bytes, etag: `"${hash('sha256', bytes).slice(0, 32)}"` }
    }
    return this.#searchIndex
  }

  #groups(): MenuGroup[] {
    this.#menu ??= [
      ...GROUPS.map(([title, names]) => ({
        title,
        links: names.map((name) => ({ href: pathOf(name), title: titleOf(sourceOf(name)) })),
      })),
      {
        title: 'Reference',
        links: [
          { href: '/docs/api', title: 'API reference' },
          { href: '/v1/ogc?f=html', title: 'OGC API' },
          { href: '/v1/records?f=html', title: 'Catalogue for machines' },
        ],
      },
    ]
    return this.#menu
  }

  #render(name: string): string {
    const { title, content, headings } = renderMarkdown(sourceOf(name))
    return documentationPage({
      about: this.#about,
      title,
      path: pathOf(name),
      menu: this.#groups(),
      content,
      contents: contentsOf(headings),
    })
  }
}

/** The help of a problem marks names in backticks, as Markdown does. */
function inline(text: string): Html {
  return new Html(escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>'))
}

function sourceOf(name: string): string {
  return readFileSync(new URL(`${name}.md`, FOLDER), 'utf8')
}

function titleOf(source: string): string {
  return /^# (.+)$/m.exec(source)?.[1] ?? 'Documentation'
}

function pathOf(name: string): string {
  return name === 'index' ? '/docs' : `/docs/${name}`
}
