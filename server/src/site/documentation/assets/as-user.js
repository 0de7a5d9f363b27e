// A page that needs a key, for somebody who is signed in: it is loaded again with the short-lived key of the session,
// and shown in place of the refusal. A browser sends no key by itself when it follows a link.
import { offerCopies } from './docs.js'
import { accessToken, isMarked, post } from './session.js'

async function ownPage() {
  if (!isMarked()) return null
  const token = await accessToken()
  const key = token && (await post('/v1/auth/session-key', undefined, token))
  if (!key) return null
  const headers = { 'x-api-key': key.secret, accept: 'text/html' }
  const response = await fetch(location.href, { headers })
  if (!/^text\/html/.test(response.headers.get('content-type') ?? '')) return null
  return new DOMParser().parseFromString(await response.text(), 'text/html')
}

function show(page) {
  document.title = page.title
  const loaded = [...document.querySelectorAll('link[rel=stylesheet]')].map(({ href }) => href)
  for (const sheet of page.querySelectorAll('link[rel=stylesheet]')) {
    if (!loaded.includes(sheet.href)) document.head.append(document.importNode(sheet))
  }
  for (const part of ['.doc', '.site-foot']) {
    const own = page.querySelector(part)
    // Who sees it is signed in.
    for (const link of own?.querySelectorAll('[data-account="sign-in"]') ?? []) link.hidden = true
    if (own) document.querySelector(part)?.replaceWith(document.importNode(own, true))
  }
  offerCopies(document)
}

const page = await ownPage().catch(() => null)
if (page) show(page)
