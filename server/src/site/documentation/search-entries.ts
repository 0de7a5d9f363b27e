import { slugOf } from './markdown.ts'

/** A section of a page, as the search finds it. */
export interface SearchEntry {
  id: string
  href: string
  /** The title of the page. */
  page: string
  /** The title of the section. */
  title: string
  text: string
}

const MAX_TEXT = 2000

/** The sections of a page in Markdown. */
export function searchEntries(path: string, source: string): SearchEntry[] {
  const entries: SearchEntry[] = []
  const idCounts = new Map<string, number>()
  let page = ''
  let isCode = false
  for (const line of source.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode
    const heading = isCode ? null : /^#{1,3} (.+)$/.exec(line)
    if (heading) {
      const title = heading[1]!.replaceAll('`', '')
      if (page === '') page = title
      const base = slugOf(heading[1]!)
      const count = idCounts.get(base) ?? 0
      idCounts.set(base, count + 1)
      const href = `${path}#${count === 0 ? base : `${base}-${count}`}`
      entries.push({ id: href, href, page, title, text: '' })
    } else if (entries.length > 0) {
      const entry = entries.at(-1)!
      if (entry.text.length < MAX_TEXT) entry.text += `${line.replace(/[`*|#>[\]]/g, ' ')}\n`
    }
  }
  return entries
}
