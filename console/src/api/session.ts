import { ProblemError, problemFrom, unreachable } from './problem.ts'

export type SessionState = 'unknown' | 'signed-out' | 'signed-in'

interface Tokens {
  accessToken: string
  expiresIn: number
}

/** A token that expires within this time is refreshed first, so that it does not expire in transit. */
const MARGIN_MS = 30_000

/** Tells this and other pages, such as the documentation, that there is a session to ask for. */
const MARK = 'signed-in'

/**
 * The signed-in session. The refresh token is in an HttpOnly cookie; the access token is only in memory and
 * is lost when the page closes.
 */
class Session {
  state: SessionState = 'unknown'
  /** Whether the session ended without a sign-out in this tab, such as in another one or by an administrator. */
  hasEnded = false
  #token = ''
  #endsAt = 0
  /** The organization that this page shows; undefined before the first token. */
  #organizationId: string | null | undefined
  #renewing: Promise<string> | null = null
  readonly #listeners = new Set<() => void>()
  readonly #otherTabs = new BroadcastChannel('session')

  constructor() {
    this.#otherTabs.onmessage = ({ data }) => {
      if (data === 'switched') return window.location.reload()
      this.hasEnded ||= data === 'signed-out' && this.state === 'signed-in'
      // Another user may have signed in there, so discard the state of the previous user.
      this.#forget()
      if (data === 'signed-in') this.renew('').catch(() => {})
    }
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Restores the session of an earlier visit. A browser in which no user is signed in sends no request. */
  async restore(): Promise<void> {
    if (isMarked() === false) this.#become('signed-out')
    else await this.token()
  }

  /** Returns an access token that is still valid. */
  async token(): Promise<string> {
    if (this.#token && Date.now() < this.#endsAt - MARGIN_MS) return this.#token
    return this.renew(this.#token)
  }

  /** Returns a token other than the refused one. Concurrent calls share one request (single-flight). */
  renew(refused: string): Promise<string> {
    if (this.#token && this.#token !== refused) return Promise.resolve(this.#token)
    this.#renewing ??= this.#refresh().finally(() => {
      this.#renewing = null
    })
    return this.#renewing
  }

  async signInByLink(token: string): Promise<void> {
    this.#begin(await post<Tokens>('/v1/auth/token', { token, cookie: true }))
  }

  async signInByCode(email: string, code: string, request: string): Promise<void> {
    this.#begin(await post<Tokens>('/v1/auth/token', { email, code, request, cookie: true }))
  }

  async signInBySignOn(response: string): Promise<void> {
    this.#begin(await post<Tokens>('/v1/auth/oidc/token', { response, cookie: true }))
  }

  /** After the session has switched to another organization: loads the page anew, here and in other tabs. */
  switched(path: string): void {
    this.#otherTabs.postMessage('switched')
    window.location.assign(path)
  }

  /** After the account was closed: nothing of it stays in memory. */
  closed(): void {
    this.#forget()
    this.#otherTabs.postMessage('signed-out')
    window.location.assign('/')
  }

  async signOut(): Promise<void> {
    await post('/v1/auth/sign-out', {})
    this.#forget()
    this.#otherTabs.postMessage('signed-out')
  }

  async #refresh(): Promise<string> {
    try {
      const tokens = await post<Tokens>('/v1/auth/refresh', { cookie: true })
      const isSwitched =
        this.#organizationId !== undefined && this.#organizationId !== organizationOf(tokens.accessToken)
      // Another tab has switched to another organization: what this page shows must not be done there.
      if (isSwitched) {
        window.location.reload()
        return new Promise(() => {})
      }
      return this.#hold(tokens)
    } catch (error) {
      if (error instanceof ProblemError && error.status === 401) {
        this.hasEnded ||= this.state === 'signed-in' || isMarked() === true
        this.#forget()
      }
      throw error
    }
  }

  #begin(tokens: Tokens): void {
    this.#forget()
    this.#hold(tokens)
    this.#otherTabs.postMessage('signed-in')
  }

  #hold({ accessToken, expiresIn }: Tokens): string {
    this.#token = accessToken
    this.#organizationId = organizationOf(accessToken)
    this.#endsAt = Date.now() + expiresIn * 1000
    this.hasEnded = false
    mark(true)
    this.#become('signed-in')
    return accessToken
  }

  #forget(): void {
    this.#token = ''
    this.#endsAt = 0
    this.#organizationId = undefined
    mark(false)
    this.#become('signed-out')
  }

  #become(state: SessionState): void {
    if (this.state === state) return
    this.state = state
    for (const listener of this.#listeners) listener()
  }
}

export const session = new Session()

/** The organization that an access token is for; null for a user without one. */
function organizationOf(accessToken: string): string | null {
  const [, payload = ''] = accessToken.split('.')
  const { org } = JSON.parse(atob(payload.replace(/-/g, '+').replace(/_/g, '/'))) as { org?: string }
  return org ?? null
}

/** Null if storage is blocked: then only the service knows. */
function isMarked(): boolean | null {
  try {
    return localStorage.getItem(MARK) !== null
  } catch {
    return null
  }
}

function mark(isSignedIn: boolean): void {
  try {
    if (isSignedIn) localStorage.setItem(MARK, '')
    else localStorage.removeItem(MARK)
  } catch {
    // If storage is blocked, pages outside the console show a link to sign in.
  }
}

/** For calls before sign-in, which have no token. */
export async function post<T = void>(path: string, body: unknown): Promise<T> {
  const response = await fetch(path, {
    method: 'POST',
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  }).catch(() => {
    throw unreachable()
  })
  const text = await response.text()
  if (!response.ok) throw problemFrom(response.status, text, response.headers.get('x-request-id'))
  return (text === '' ? undefined : JSON.parse(text)) as T
}
