// The API reference: one language for all examples, the search among the operations, and forms that send requests. If
// the visitor is signed in, requests carry the session's token or a short-lived key; a request that may cost credits
// is sent only after a confirmation.
import { addressOf, followForm } from './follow-form.js'
import { accessToken, post } from './session.js'

const MARGIN_MS = 30_000
const MAX_SHOWN = 20_000

function choose(language) {
  for (const block of document.querySelectorAll('[data-language]')) {
    block.hidden = block.dataset.language !== language
  }
  for (const button of document.querySelectorAll('[data-choose]')) {
    button.setAttribute('aria-pressed', String(button.dataset.choose === language))
  }
}

function rememberedLanguage(language) {
  try {
    if (language) localStorage.setItem('language', language)
    return localStorage.getItem('language')
  } catch {
    // If storage is blocked, the choice lasts until the page is closed.
    return null
  }
}

if (rememberedLanguage()) choose(rememberedLanguage())
for (const button of document.querySelectorAll('[data-choose]')) {
  button.addEventListener('click', () => {
    // The page keeps its place, although examples above it become longer or shorter.
    const before = button.getBoundingClientRect().top
    choose(button.dataset.choose)
    rememberedLanguage(button.dataset.choose)
    scrollBy(0, button.getBoundingClientRect().top - before)
  })
}

const search = document.querySelector('[data-operations]')
const groups = [...document.querySelectorAll('.operation-groups details')]
const opened = groups.map((group) => group.open)
const field = search.querySelector('input')

function filter() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean)
  let count = 0
  // On a phone the list is folded until it is searched.
  if (words.length > 0) document.querySelector('.doc-pages').open = true
  for (const [index, group] of groups.entries()) {
    let matches = 0
    for (const item of group.querySelectorAll('li')) {
      item.hidden = !words.every((word) => item.dataset.words.includes(word))
      if (!item.hidden) matches++
    }
    group.hidden = matches === 0
    group.open = words.length > 0 || opened[index]
    count += matches
  }
  search.querySelector('[role=status]').textContent =
    words.length === 0 ? '' : count === 0 ? 'Nothing matches' : `${count} operations`
}

search.hidden = false
field.addEventListener('input', filter)
search.addEventListener('submit', (event) => {
  event.preventDefault()
  document.querySelector('.operation-groups li:not([hidden]) a')?.click()
})

/** The short-lived key of the session, only in memory, as in the console. */
const session = { key: '', keyEnd: 0 }

async function sessionKey() {
  if (Date.now() < session.keyEnd - MARGIN_MS) return session.key
  const token = await accessToken()
  const key = token && (await post('/v1/auth/session-key', undefined, token))
  session.key = key ? key.secret : ''
  session.keyEnd = key ? Date.now() + Date.parse(key.expiresAt) - Date.parse(key.createdAt) : 0
  return session.key
}

async function credentials(access) {
  if (access === 'none') return {}
  if (access === 'token' || access === 'either') {
    const token = await accessToken()
    return token ? { authorization: `Bearer ${token}` } : {}
  }
  const key = await sessionKey()
  return key ? { 'x-api-key': key } : {}
}

/** The price of the dataset that a path names; null if it cannot be read. */
async function priceOf(path) {
  const table = /^\/v1\/dataset\/([^/]+)\//.exec(path)?.[1]
  const response = table && (await fetch(`/v1/dataset/${table}`))
  return response?.ok ? (await response.json()).credits : null
}

async function mayCost(path) {
  const price = await priceOf(path)
  if (price === 0) return true
  const cost =
    price === null ? 'This request may cost credits.' : `This request costs up to ${price} credits.`
  return window.confirm(`${cost} Send it?`)
}

async function bodyText(response) {
  const type = response.headers.get('content-type') ?? ''
  if (!/json|text|xml|csv/.test(type)) return type === '' ? '' : `(${type})`
  const text = await response.text()
  const shown = /json$|json;/.test(type) && text.length < 1_000_000 ? indented(text) : text
  return shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}\n…` : shown
}

function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

async function send(form) {
  const status = form.querySelector('[role=status]')
  const { path, url } = addressOf(form)
  const { method, access, costs } = form.dataset
  if (costs !== undefined && !(await mayCost(path))) {
    status.textContent = 'Not sent: it would have cost credits.'
    return
  }
  status.textContent = 'Sending…'
  const body = form.elements.body?.value
  const headers = await credentials(access)
  if (body) headers['content-type'] = 'application/json'
  const response = await fetch(url, { method, headers, ...(body && { body }) })
  const code = document.createElement('pre')
  code.tabIndex = 0
  code.textContent = await bodyText(response)
  const line = document.createElement('p')
  const badge = Object.assign(document.createElement('span'), {
    className: `badge ${response.ok ? 'good' : 'bad'}`,
    textContent: String(response.status),
  })
  line.append(badge, ` ${method} ${url}`)
  status.replaceChildren(line, ...(code.textContent === '' ? [] : [code]))
}

for (const details of document.querySelectorAll('.try')) {
  details.hidden = false
  const form = details.querySelector('form')
  followForm(form)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    send(form).catch((error) => {
      form.querySelector('[role=status]').textContent = `Not sent: ${error.message}`
    })
  })
}
