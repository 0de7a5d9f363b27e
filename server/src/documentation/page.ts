import { type Html, html } from '../http/html.ts'

export interface PageLink {
  href: string
  title: string
}

/** The frame of a documentation page: the list of pages at its side, and its content. */
export function documentationPage(
  title: string,
  path: string,
  links: PageLink[],
  content: Html,
  script?: string,
): string {
  const menu = links.map(
    (link) =>
      html`<li><a href="${link.href}"${link.href === path ? html` aria-current="page"` : ''}>${link.title}</a></li>`,
  )
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Wayleave</title>
<link rel="stylesheet" href="/docs/assets/documentation.css">
<link rel="icon" href="/docs/assets/icon.svg" type="image/svg+xml">
${script ? html`<script type="module" src="${script}"></script>` : ''}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header><a class="brand" href="/">Wayleave</a><nav aria-label="Service"><a href="/docs">Documentation</a><a href="/docs/api">API reference</a></nav></header>
<div class="columns">
<nav class="menu" aria-label="Documentation"><ul>${menu}</ul></nav>
<main id="content" tabindex="-1">${content}</main>
</div>
</body>
</html>
`.text
}
