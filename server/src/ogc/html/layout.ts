import { type Content, Html, html } from '../../http/pages/html.ts'
import { type Link, ROOT } from '../write/links.ts'

export interface Layout {
  title: string
  /** The breadcrumbs from the landing page, which is omitted, to this page. */
  trail: { href: string; title: string }[]
  base: string
  /** The document's own links; its other encodings are linked in the footer. */
  links: readonly Link[]
  body: Content
}

export function htmlPage({ title, trail, base, links, body }: Layout): string {
  const root = base + ROOT
  const way = [{ href: root, title: 'Wayleave' }, ...trail]
  const others = links.filter(({ rel, type }) => rel === 'alternate' && type !== 'text/html')
  const page = html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${base}/docs/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${root}/style.css">
</head>
<body>
<header><nav aria-label="Where you are"><ol>${way.map(
    ({ href, title: name }) => html`<li><a href="${href}">${name}</a></li>`,
  )}</ol></nav></header>
<main>
<h1>${title}</h1>
${body}
</main>
<footer>${
    others.length === 0
      ? null
      : html`<p>This page as ${others.map(
          ({ href, title: name = '' }, i) =>
            html`${i > 0 ? ', ' : ''}<a href="${href}">${name.replace(/^This (document|page) as /, '')}</a>`,
        )}.</p>`
  }</footer>
</body>
</html>
`
  return new Html(`<!doctype html>\n${page.text}`).text
}

/** A list of names and values; rows with an empty value are omitted. */
export function facts(rows: readonly [string, Content][]): Html {
  const said = rows.filter(([, value]) => value !== null && value !== '')
  return html`<dl>${said.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`
}

export function table(heads: readonly Content[], rows: readonly (readonly Content[])[]): Html {
  return tableOf(heads, rows.map(tableRow))
}

/** A table of rows that were made by `tableRow`. */
export function tableOf(heads: readonly Content[], rows: readonly Html[]): Html {
  return html`<div class="scroll"><table><thead><tr>${heads.map(
    (head) => html`<th scope="col">${head}</th>`,
  )}</tr></thead><tbody>${rows}</tbody></table></div>`
}

export function tableRow(cells: readonly Content[]): Html {
  return html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`
}
