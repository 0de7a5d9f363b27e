import { Marked } from 'marked'
import { escapeHtml, Html } from '../../http/pages/html.ts'
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
        const inline = (cell: (typeof header)[number]) => this.parser.parseInline(cell.tokens)
        const names = header.map((cell) => escapeHtml(plainText(inline(cell))))
        const head = header.map((cell) => `<th role="columnheader">${inline(cell)}</th>`).join('')
        // On narrow screens each row is a card, and each of its cells says the name of its column. The roles keep it
        // a table for screen readers, because browsers drop them with the layout.
        const body = rows
          .map((row) =>
            row.map((cell, i) => `<td role="cell" data-label="${names[i]}">${inline(cell)}</td>`).join(''),
          )
          .map((cells) => `<tr role="row">${cells}</tr>`)
          .join('\n')
        const kind = header.length > 2 ? 'table stacking' : 'table'
        return `<div class="${kind}" tabindex="0" role="group" aria-label="Table"><table role="table"><thead role="rowgroup"><tr role="row">${head}</tr></thead><tbody role="rowgroup">${body}</tbody></table></div>\n`
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
