// Shows the two API definitions of the service with Swagger UI. If the visitor is signed in, requests carry the
// session's token or a short-lived key; a request that may cost credits is sent only after a confirmation.
/* global SwaggerUIBundle */

import { accessToken, post } from './session.js'

const OGC_ROOT = '/v1/ogc'
const MARGIN_MS = 30_000

/** One definition from both. The names of the second one's components get a prefix, so that none clash. */
function merge(own, ogc) {
  const text = JSON.stringify(ogc).replaceAll(/"#\/components\/(\w+)\//g, '"#/components/$1/Ogc')
  const { paths, components, tags } = JSON.parse(text)
  // Without a list of servers, requests go to this one, and no field to choose from is shown.
  const { servers: _, ...rest } = own
  const merged = { ...rest, paths: { ...own.paths }, components: { ...own.components } }
  const tagOf = (name) => `OGC API: ${name}`
  for (const [path, operations] of Object.entries(paths)) {
    for (const operation of Object.values(operations)) operation.tags = operation.tags.map(tagOf)
    merged.paths[OGC_ROOT + (path === '/' ? '' : path)] = operations
  }
  const { securitySchemes, ...named } = components
  for (const [kind, entries] of Object.entries(named)) {
    const renamed = Object.entries(entries).map(([name, entry]) => [`Ogc${name}`, entry])
    merged.components[kind] = { ...merged.components[kind], ...Object.fromEntries(renamed) }
  }
  merged.components.securitySchemes = { ...securitySchemes, ...own.components.securitySchemes }
  merged.tags = [...own.tags, ...tags.map(({ name }) => ({ name: tagOf(name) }))]
  return merged
}

/** The operation that a request is for. */
function operationOf(definition, method, url) {
  const { pathname } = new URL(url, location.href)
  const parts = pathname.split('/')
  for (const [template, operations] of Object.entries(definition.paths)) {
    const names = template.split('/')
    const matches =
      names.length === parts.length && names.every((name, i) => name.startsWith('{') || name === parts[i])
    if (matches && operations[method.toLowerCase()]) return operations[method.toLowerCase()]
  }
  return undefined
}

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

/** The price of the dataset that a path names; null if it cannot be read. */
async function priceOf(url) {
  const table = /^\/v1\/dataset\/([^/]+)\//.exec(new URL(url, location.href).pathname)?.[1]
  const response = table && (await fetch(`/v1/dataset/${table}`))
  return response?.ok ? (await response.json()).credits : null
}

async function confirmCost(operation, request) {
  if (operation?.responses?.['402'] === undefined) return
  const price = await priceOf(request.url)
  if (price === 0) return
  const cost =
    price === null ? 'This request may cost credits.' : `This request costs up to ${price} credits.`
  if (!window.confirm(`${cost} Send it?`)) throw new Error('Not sent: it would have cost credits.')
}

function interceptor(definition) {
  return async (request) => {
    const operation = operationOf(definition, request.method ?? 'GET', request.url)
    await confirmCost(operation, request)
    const names = (operation?.security ?? []).flatMap((one) => Object.keys(one))
    const wantsToken = names.some((name) => /token/i.test(name))
    const headers = Object.keys(request.headers).map((name) => name.toLowerCase())
    if (wantsToken && !headers.includes('authorization')) {
      const token = await accessToken()
      if (token) request.headers.Authorization = `Bearer ${token}`
    } else if (names.length > 0 && !wantsToken && !headers.includes('x-api-key')) {
      const key = await sessionKey()
      if (key) request.headers['X-API-Key'] = key
    }
    return request
  }
}

/** The page has a main landmark of its own, so the one of Swagger UI becomes a plain element. */
function withoutMain() {
  const replaced = (node) => {
    if (Array.isArray(node)) return node.map(replaced)
    if (!node?.props?.children) return node
    const props = { ...node.props, children: replaced(node.props.children) }
    return { ...node, type: node.type === 'main' ? 'div' : node.type, props }
  }
  // React would mount the page anew if the class were another one at each rendering.
  const classes = new Map()
  const plain = (Layout) => {
    if (!classes.has(Layout)) {
      const PlainLayout = class extends Layout {
        render() {
          return replaced(super.render())
        }
      }
      classes.set(Layout, PlainLayout)
    }
    return classes.get(Layout)
  }
  // Swagger UI wraps the layout into an error boundary.
  const wrapped = (Boundary) =>
    class extends Boundary {
      render() {
        const boundary = super.render()
        const layout = boundary.props.children
        return {
          ...boundary,
          props: { ...boundary.props, children: { ...layout, type: plain(layout.type) } },
        }
      }
    }
  return { wrapComponents: { BaseLayout: wrapped } }
}

const [own, ogc] = await Promise.all(
  ['/v1/openapi.json', `${OGC_ROOT}/api?f=json`].map(async (path) => (await fetch(path)).json()),
)
const definition = merge(own, ogc)
SwaggerUIBundle({
  spec: definition,
  dom_id: '#reference',
  // With deep links, the path of an operation is a link inside of a button, which screen readers cannot reach.
  deepLinking: false,
  docExpansion: 'list',
  filter: true,
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  plugins: [withoutMain],
  requestInterceptor: interceptor(definition),
  syntaxHighlight: { activated: false },
})
