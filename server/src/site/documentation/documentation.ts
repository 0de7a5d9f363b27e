import { readFileSync } from 'node:fs'
import { type ProblemCode, problems } from '../../base/problem.ts'
import type { About } from '../../http/about.ts'
import { escapeHtml, Html, html } from '../../http/pages/html.ts'
import { wayLinks } from '../../http/pages/problem-page.ts'
import { explanationOf } from '../../http/pages/problem-ways.ts'
import { renderMarkdown } from './markdown.ts'
import { contentsOf, documentationPage, type MenuGroup } from './page.ts'
import { EXAMPLE_ADDRESS, PAGE_GROUPS, PAGES } from './page-names.ts'
import { searchEntries } from './search-entries.ts'

const FOLDER = new URL('../../../../docs/', import.meta.url)

/** Renders the Markdown files of docs/, with the example address. */
export class Documentation {
  readonly #about: About
  #menu: MenuGroup[] | undefined

  constructor(about: About) {
    this.#about = about
  }

  page(name: string): string {
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

  problem(code: ProblemCode): string {
    const [status, title, help] = problems[code]
    const { why, ways } = explanationOf(code, status)
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

  /** What the search finds, as JSON. */
  searchIndex(): string {
    const entries = PAGES.flatMap((name) =>
      searchEntries(pathOf(name), sourceOf(name).replaceAll(EXAMPLE_ADDRESS, '')),
    )
    return JSON.stringify(entries)
  }

  #groups(): MenuGroup[] {
    this.#menu ??= [
      ...PAGE_GROUPS.map(([title, names]) => ({
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
