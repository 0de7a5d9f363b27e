import { readdirSync, readFileSync } from 'node:fs'

const DOCS = new URL('../../../docs/', import.meta.url)

export interface DocumentedExample {
  /** The file in docs/, such as `gallery.md`. */
  page: string
  /** The heading of its section; empty before the first one. */
  section: string
  language: string
  code: string
}

/** All code blocks of the documentation that name a language. */
export function documentedExamples(): DocumentedExample[] {
  return readdirSync(DOCS)
    .filter((name) => name.endsWith('.md'))
    .flatMap((page) => examplesOf(page))
}

export function pageText(page: string): string {
  return readFileSync(new URL(page, DOCS), 'utf8')
}

function examplesOf(page: string): DocumentedExample[] {
  const sections = pageText(page).split(/^## /m)
  return sections.flatMap((text, index) => {
    const section = index === 0 ? '' : text.slice(0, text.indexOf('\n'))
    const blocks = [...text.matchAll(/^```(\w[\w ]*)\n(.*?)^```$/gms)]
    return blocks.map(([, language = '', code = '']) => ({ page, section, language, code }))
  })
}
