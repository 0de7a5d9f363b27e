import type { Dataset } from '../../data/catalog/dataset.ts'
import type { About } from '../../http/about.ts'
import { type Content, Html, html } from '../../http/pages/html.ts'
import { siteFooter, siteHead, siteHeader } from '../../http/pages/site-frame.ts'
import { type Link, ROOT } from '../write/links.ts'

/** What all pages need: where they are, and whose. */
export interface Place {
  base: string
  about: About
}

export interface Layout extends Place {
  title: string
  /** The breadcrumbs from the landing page, which is omitted, to this page. */
  trail: { href: string; title: string }[]
  /** The document's own links; its other encodings are linked in the footer. */
  links: readonly Link[]
  body: Content
  /** The start of the breadcrumbs; by default the landing page of OGC API - Features. */
  start?: { href: string; title: string }
}

export function htmlPage({ title, trail, base, about, links, body, start }: Layout): string {
  const root = base + ROOT
  const way = [start ?? { href: `${root}?f=html`, title: 'OGC API' }, ...trail]
  const others = links.filter(({ rel, type }) => rel === 'alternate' && type !== 'text/html')
  const encodings =
    others.length === 0
      ? null
      : html`<p><span>This page as ${others.map(
          ({ href, title: name = '' }, i) =>
            html`${i > 0 ? ', ' : ''}<a href="${href}">${name.replace(/^This (document|page) as /, '')}</a>`,
        )}.</span></p>`
  const page = html`<html lang="en">
<head>
${siteHead(about, base)}
<title>${title}</title>
<link rel="stylesheet" href="${root}/style.css">
</head>
<body>
${siteHeader(about, false, base)}
<div class="doc wide">
<nav class="trail" aria-label="Where you are"><ol>${way.map(
    ({ href, title: name }, i) =>
      html`<li>${i === way.length - 1 ? html`<span aria-current="page">${name}</span>` : html`<a href="${href}">${name}</a>`}</li>`,
  )}</ol></nav>
<main id="content" class="prose" tabindex="-1">
<h1>${title}</h1>
${body}
</main>
</div>
${siteFooter(about, encodings)}
</body>
</html>
`
  return new Html(`<!doctype html>\n${page.text}`).text
}

/** A list of names and values; rows with an empty value are omitted. */
export function facts(rows: readonly [string, Content][]): Html {
  const filledRows = rows.filter(([, value]) => value !== null && value !== '')
  return html`<dl class="facts">${filledRows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`
}

export function table(heads: readonly Content[], rows: readonly (readonly Content[])[]): Html {
  return tableOf(
    heads.map((head) => headCell(head)),
    rows.map((row) => tableRow(row)),
  )
}

/** A table of heads that were made by `headCell`, and of rows that were made by `tableRow`. */
export function tableOf(heads: readonly Html[], rows: readonly Html[]): Html {
  return html`<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${heads}</tr></thead><tbody>${rows}</tbody></table></div>`
}

export function headCell(
  content: Content,
  sorted: 'ascending' | 'descending' | null = null,
  isNumber = false,
): Html {
  return html`<th scope="col"${isNumber ? NUMBER : null}${sorted && html` aria-sort="${sorted}"`}>${content}</th>`
}

/** Numbers stand at the right edge of their columns, as in the explorer. */
export function tableRow(cells: readonly Content[], areNumbers: readonly boolean[] = []): Html {
  return html`<tr>${cells.map((cell, i) => html`<td${areNumbers[i] ? NUMBER : null}>${cell}</td>`)}</tr>\n`
}

const NUMBER = html` class="number"`

/** The breadcrumbs to a collection. */
export function collectionTrail(base: string, { table: name, title }: Dataset) {
  const root = `${base}${ROOT}/collections`
  return [
    { href: `${root}?f=html`, title: 'Collections' },
    { href: `${root}/${name}?f=html`, title },
  ]
}
