import type { About } from '../about.ts'
import { type Html, html } from './html.ts'
import { siteFooter, siteHead, siteHeader } from './site-frame.ts'

export interface PlainPage {
  about: About
  title: string
  content: Html
  /** Shown at the side of the content. */
  menu?: Html
  /** The contents of the page, shown at its other side. */
  contents?: Html | null
  /** The URLs of JavaScript modules that the page loads. */
  scripts?: readonly string[]
  /** Further elements in the head. */
  head?: Html
}

/** The layout of pages outside the console: the documentation, and error pages. */
export function plainPage({ about, title, content, menu, contents, scripts = [], head }: PlainPage): string {
  const sides = [menu && 'with-menu', contents && 'with-contents'].filter(Boolean).join(' ')
  return html`<!doctype html>
<html lang="en">
<head>
${siteHead(about)}
<title>${title === about.title ? title : `${title} · ${about.title}`}</title>
${head ?? ''}
${scripts.map((script) => html`<script type="module" src="${script}"></script>`)}
</head>
<body>
${siteHeader(about, menu !== undefined)}
<div class="doc ${sides}">
${menu ?? ''}
<main id="content" class="prose" tabindex="-1">${content}</main>
${contents ?? ''}
</div>
${siteFooter(about)}
</body>
</html>
`.text
}
