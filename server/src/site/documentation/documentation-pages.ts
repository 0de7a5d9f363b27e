import { hash } from 'node:crypto'
import { type ProblemCode, problems } from '../../base/problem.ts'
import type { About } from '../../http/about.ts'
import { escapeHtml } from '../../http/pages/html.ts'
import type { DocumentationRequest } from './documentation-thread.ts'
import { PAGES } from './page-names.ts'
import { type RenderedText, RenderedTexts } from './rendered-texts.ts'

/** What the search of the documentation finds, as JSON. */
export interface SearchIndex {
  bytes: Buffer
  etag: string
}

/**
 * The pages of the documentation, each rendered once. Clients choose the address in the Host header, so nothing
 * expensive may depend on it: it is put into the finished page.
 */
export class DocumentationPages {
  readonly #about: About
  readonly #rendered = new RenderedTexts<DocumentationRequest>(
    new URL('./documentation-thread.ts', import.meta.url),
  )
  #searchIndex: SearchIndex | undefined

  constructor(about: About) {
    this.#about = about
  }

  /** Returns undefined if there is no such page. */
  async page(name: string, base: string): Promise<Buffer | undefined> {
    if (!PAGES.includes(name)) return undefined
    const page = await this.#render(name, { page: name })
    return page.withAddress(escapeHtml(base))
  }

  async problem(code: string): Promise<Buffer | undefined> {
    if (!Object.hasOwn(problems, code)) return undefined
    return (await this.#render(`problem ${code}`, { problem: code as ProblemCode })).bytes()
  }

  async searchIndex(): Promise<SearchIndex> {
    const text = await this.#render('search index', 'search index')
    if (this.#searchIndex === undefined) {
      const bytes = text.bytes()
      this.#searchIndex = { bytes, etag: `"${hash('sha256', bytes).slice(0, 32)}"` }
    }
    return this.#searchIndex
  }

  #render(key: string, wanted: DocumentationRequest['wanted']): Promise<RenderedText> {
    return this.#rendered.render(key, () => ({ about: this.#about, wanted }))
  }
}
