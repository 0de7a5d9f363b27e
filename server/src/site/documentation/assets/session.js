// The signed-in session on pages outside the console. The refresh token is in an HttpOnly cookie that scripts cannot
// read; the access token is only in memory.

const MARGIN_MS = 30_000
/** The console writes this entry while a user is signed in: the pages of other visitors send no request. */
const MARK = 'signed-in'

const current = { token: '', expiresAt: 0 }
let refreshing = null
const channel = new BroadcastChannel('session')

export async function post(path, body, token) {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) }
  const response = await fetch(path, { method: 'POST', headers, body: body && JSON.stringify(body) })
  if (response.status >= 500) throw new Error(`${path} responded ${response.status}.`)
  if (!response.ok) return null
  return response.status === 204 ? {} : response.json()
}

/** Whether a user was signed in when the console was last open. */
export function isMarked() {
  try {
    return localStorage.getItem(MARK) !== null
  } catch {
    // Storage is blocked.
    return false
  }
}

function forget() {
  current.token = ''
  current.expiresAt = 0
  try {
    localStorage.removeItem(MARK)
  } catch {
    // Storage is blocked, so nothing is stored.
  }
}

/** An access token that is still valid, or an empty text if nobody is signed in. */
export function accessToken() {
  if (Date.now() < current.expiresAt - MARGIN_MS) return current.token
  // Concurrent calls share one request (single-flight).
  refreshing ??= refresh().finally(() => {
    refreshing = null
  })
  return refreshing
}

async function refresh() {
  const tokens = await post('/v1/auth/refresh', { cookie: true })
  if (tokens === null) {
    forget()
    return ''
  }
  current.token = tokens.accessToken
  current.expiresAt = Date.now() + tokens.expiresIn * 1000
  return current.token
}

export async function signOut() {
  if ((await post('/v1/auth/sign-out', {})) === null) return
  forget()
  channel.postMessage('signed-out')
}

/** Calls the listener when a user signs in or out in another tab. */
export function onChange(listener) {
  channel.addEventListener('message', () => {
    current.token = ''
    current.expiresAt = 0
    listener()
  })
}
