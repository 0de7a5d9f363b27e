import { type Html, html } from '../http/pages/html.ts'
import { plainPage } from '../http/pages/page-layout.ts'

export interface PageLink {
  href: string
  title: string
}

/** A documentation page: the list of pages on the side, and the content. */
export function documentationPage(
  title: string,
  path: string,
  links: PageLink[],
  content: Html,
  script?: string,
): string {
  const items = links.map(
    (link) =>
      html`<li><a href="${link.href}"${link.href === path ? html` aria-current="page"` : ''}>${link.title}</a></li>`,
  )
  const menu = html`<nav class="menu" aria-label="Documentation"><ul>${items}</ul></nav>`
  return plainPage({ title, content, menu, ...(script ? { script } : {}) })
}
