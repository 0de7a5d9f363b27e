import { Marked } from 'marked'
import { escapeHtml, Html } from '../http/pages/html.ts'

/** Renders the documentation's Markdown to HTML. Headings get ids to link to. Raw HTML is shown as text. */
export function renderMarkdown(source: string): { title: string; content: Html } {
  const used = new Map<string, number>()
  const marked = new Marked({
    gfm: true,
    renderer: {
      html: ({ text }) => escapeHtml(text),
      heading({ tokens, depth, text }) {
        const base = slugOf(text)
        const count = used.get(base) ?? 0
        used.set(base, count + 1)
        const id = count === 0 ? base : `${base}-${count}`
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)} <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${depth}>\n`
      },
      table({ header, rows }) {
        const cells = (row: typeof header, tag: 'th' | 'td') =>
          row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')
        const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n')
        return `<div class="table" tabindex="0" role="region" aria-label="Table"><table><thead><tr>${cells(header, 'th')}</tr></thead><tbody>${body}</tbody></table></div>\n`
      },
      link({ href, tokens }) {
        return `<a href="${escapeHtml(siteLink(href))}">${this.parser.parseInline(tokens)}</a>`
      },
    },
  })
  const title = /^# (.+)$/m.exec(source)?.[1] ?? 'Documentation'
  return { title, content: new Html(marked.parse(source, { async: false })) }
}

/** Pages link to each other as files, so that the links work in the repository too. */
function siteLink(href: string): string {
  const page = /^(?:\.\/)?([a-z0-9-]+)\.md(#.*)?$/.exec(href)
  if (!page) return href
  return `/docs${page[1] === 'index' ? '' : `/${page[1]}`}${page[2] ?? ''}`
}

function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
}
