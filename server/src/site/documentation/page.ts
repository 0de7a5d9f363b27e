import type { About } from '../../http/about.ts'
import { type Html, html } from '../../http/pages/html.ts'
import { plainPage } from '../../http/pages/page-layout.ts'
import type { Heading } from './markdown.ts'

export interface MenuGroup {
  title: string
  links: { href: string; title: string }[]
}

export interface DocumentationPage {
  about: About
  title: string
  path: string
  menu: MenuGroup[]
  content: Html
  contents?: Html | null
}

/** A documentation page: search and the list of pages on the side, the content, and its headings. */
export function documentationPage(page: DocumentationPage): string {
  const { about, title, path, menu, content, contents } = page
  const groups = menu.map(
    (group) =>
      html`<h2>${group.title}</h2><ul>${group.links.map(
        (link) =>
          html`<li><a href="${link.href}"${link.href === path ? html` aria-current="page"` : ''}>${link.title}</a></li>`,
      )}</ul>`,
  )
  const side = html`<nav class="doc-menu" aria-label="Documentation">
<form class="doc-search" role="search" data-search hidden><label class="visually-hidden" for="search">Search the documentation</label><input id="search" type="search" placeholder="Search" autocomplete="off"><span role="status"></span><ol></ol></form>
<details class="doc-pages"><summary>All pages</summary>${groups}</details></nav>`
  return plainPage({
    about,
    title,
    content,
    menu: side,
    contents: contents ?? null,
    scripts: ['/docs/assets/docs.js'],
  })
}

/** The headings of a page as links; null if there are too few to be worth a list. */
export function contentsOf(headings: readonly Heading[]): Html | null {
  const listed = headings.filter(({ depth }) => depth === 2 || depth === 3)
  if (listed.length < 3) return null
  const items = listed.map(
    ({ id, text, depth }) =>
      html`<li${depth === 3 ? html` class="deep"` : ''}><a href="#${id}">${text}</a></li>`,
  )
  return html`<nav class="doc-contents" aria-label="On this page"><h2>On this page</h2><ul>${items}</ul></nav>`
}
