import { Marked } from 'marked'
import { escapeHtml, Html } from '../http/pages/html.ts'
import { highlight } from './highlight.ts'

export interface Heading {
  id: string
  text: string
  depth: number
}

export interface RenderedPage {
  title: string
  content: Html
  headings: Heading[]
}

/** Renders the documentation's Markdown to HTML. Headings get ids to link to. Raw HTML is shown as text. */
export function renderMarkdown(source: string): RenderedPage {
  const idCounts = new Map<string, number>()
  const headings: Heading[] = []
  const marked = new Marked({
    gfm: true,
    renderer: {
      html: ({ text }) => escapeHtml(text),
      heading({ tokens, depth, text }) {
        const base = slugOf(text)
        const count = idCounts.get(base) ?? 0
        idCounts.set(base, count + 1)
        const id = count === 0 ? base : `${base}-${count}`
        const content = this.parser.parseInline(tokens)
        headings.push({ id, text: plainText(content), depth })
        return `<h${depth} id="${id}">${content} <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${depth}>\n`
      },
      code({ text, lang }) {
        const code = highlight(text, lang?.split(' ', 1)[0] ?? '')
        return `<div class="code"><pre tabindex="0"><code>${code}</code></pre><button type="button" class="button small" data-copy hidden>Copy</button></div>\n`
      },
      table({ header, rows }) {
        const cells = (row: typeof header, tag: 'th' | 'td') =>
          row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')
        const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n')
        return `<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${cells(header, 'th')}</tr></thead><tbody>${body}</tbody></table></div>\n`
      },
      link({ href, tokens }) {
        return `<a href="${escapeHtml(siteLink(href))}">${this.parser.parseInline(tokens)}</a>`
      },
    },
  })
  const title = /^# (.+)$/m.exec(source)?.[1] ?? 'Documentation'
  const content = new Html(marked.parse(source, { async: false }))
  return { title, content, headings }
}

/** Pages link to each other as files, so that the links work in the repository too. */
function siteLink(href: string): string {
  const page = /^(?:\.\/)?([a-z0-9-]+)\.md(#.*)?$/.exec(href)
  if (!page) return href
  return `/docs${page[1] === 'index' ? '' : `/${page[1]}`}${page[2] ?? ''}`
}

function plainText(html: string): string {
  return html
    .replace(/<[^>]+>/g, '')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&')
}

export function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
}
