import type { About } from '../about.ts'
import { type Content, type Html, html } from './html.ts'

/** The elements in the head of every page outside the console: styles, icon and theme. */
export function siteHead({ logo }: About, base = ''): Html {
  return html`<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${base}${logo ?? '/docs/assets/icon.svg'}">
<link rel="preload" href="${base}/docs/assets/instrument-sans.woff2" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="${base}/site/site.css">
<link rel="stylesheet" href="${base}/site/colors.css">
<script src="${base}/docs/assets/theme.js"></script>
<script type="module" src="${base}/docs/assets/account.js"></script>`
}

/** The paths of the console's icons (console/src/components/icon.tsx). */
const ICONS = {
  sun: 'M12 4V2m0 20v-2m8-8h2M2 12h2m13.7-5.7 1.4-1.4M4.9 19.1l1.4-1.4m11.4 0 1.4 1.4M4.9 4.9l1.4 1.4M12 7.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9Z',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5Z',
} as const

function icon(name: keyof typeof ICONS): Html {
  return html`<svg data-icon="${name}" viewBox="0 0 24 24" width="18" height="18" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="${ICONS[name]}"/></svg>`
}

/**
 * The same header as the console's: name, places, theme, account. The same for everyone, so that pages can be cached:
 * the script account.js shows what a signed-in user has.
 */
export function siteHeader({ title, logo }: About, isDocs: boolean, base = ''): Html {
  const link = (href: string, text: string, isCurrent: boolean) =>
    html`<a href="${base}${href}"${isCurrent ? html` aria-current="true"` : ''}>${text}</a>`
  const ownLink = (name: string, text: string) =>
    html`<a href="${base}/${name}" data-account="${name}" hidden>${text}</a>`
  return html`<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<a class="brand" href="${base}/"><img src="${base}${logo ?? '/docs/assets/icon.svg'}" alt="" width="22" height="22"> ${title}</a>
<nav aria-label="Service">${link('/datasets', 'Datasets', false)}${ownLink('keys', 'Keys')}${ownLink('organization', 'Organization')}${ownLink('administration', 'Administration')}${ownLink('account', 'Account')}${link('/docs', 'Docs', isDocs)}</nav>
<div class="account"><button type="button" class="button quiet" data-theme-button hidden>${icon('sun')}${icon('moon')}</button><span class="account-name small soft" data-account="name" hidden></span><a class="button small" href="${base}/sign-in" data-account="sign-in">Sign in</a><button type="button" class="button small" data-account="sign-out" hidden>Sign out</button></div>
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
    html`<a href="/docs/api">API reference</a>`,
    html`<a href="/status">Status</a>`,
  ]
  return html`<footer class="site-foot">${more}<p>${links.filter((link) => link !== null)}</p></footer>`
}
