import type { About } from '../about.ts'
import { type Content, type Html, html } from './html.ts'

/** The elements in the head of every page outside the console: styles, icon and theme. */
export function siteHead({ logo }: About, base = ''): Html {
  return html`<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${base}${logo ?? '/docs/assets/icon.svg'}">
<link rel="stylesheet" href="${base}/site/site.css">
<link rel="stylesheet" href="${base}/site/colors.css">
<script src="${base}/docs/assets/theme.js"></script>`
}

/** The same header as the console's: name, places, theme. */
export function siteHeader({ title, logo }: About, current: 'docs' | 'ogc' | null, base = ''): Html {
  const link = (href: string, text: string, isCurrent: boolean) =>
    html`<a href="${base}${href}"${isCurrent ? html` aria-current="true"` : ''}>${text}</a>`
  return html`<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<a class="brand" href="${base}/"><img src="${base}${logo ?? '/docs/assets/icon.svg'}" alt="" width="22" height="22"> ${title}</a>
<nav aria-label="Service">${link('/datasets', 'Datasets', false)}${link('/docs', 'Docs', current === 'docs')}${link('/v1/ogc?f=html', 'OGC API', current === 'ogc')}</nav>
<div class="account"><button type="button" class="button quiet" data-theme-button hidden>Theme</button></div>
</header>`
}

/** The operator's links, at the foot of every page. */
export function siteFooter({ contact, termsUrl, privacyUrl, imprintUrl }: About, more: Content = null): Html {
  const contactUrl = contact?.url ?? (contact?.email === undefined ? undefined : `mailto:${contact.email}`)
  const contactText = contact?.name ?? 'Contact'
  const links: Content[] = [
    contactUrl === undefined ? (contact?.name ?? null) : html`<a href="${contactUrl}">${contactText}</a>`,
    termsUrl && html`<a href="${termsUrl}">Terms of use</a>`,
    privacyUrl && html`<a href="${privacyUrl}">Privacy</a>`,
    imprintUrl && html`<a href="${imprintUrl}">Legal notice</a>`,
    html`<a href="/docs">Docs</a>`,
  ]
  return html`<footer class="site-foot">${more}<p>${links.filter((link) => link !== null)}</p></footer>`
}
