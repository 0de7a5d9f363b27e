import { type Html, html } from './html.ts'

export interface PlainPage {
  title: string
  content: Html
  /** Shown at the side of the content. */
  menu?: Html
  /** The URL of a JavaScript module that the page loads. */
  script?: string
}

/** The layout of pages outside the console: the documentation, and error pages. */
export function plainPage({ title, content, menu, script }: PlainPage): string {
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
${menu ?? ''}
<main id="content" tabindex="-1">${content}</main>
</div>
</body>
</html>
`.text
}
