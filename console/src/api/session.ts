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
  #renewing: Promise<string> | null = null
  readonly #listeners = new Set<() => void>()
  readonly #otherTabs = new BroadcastChannel('session')

  constructor() {
    this.#otherTabs.onmessage = ({ data }) => {
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

  async signOut(): Promise<void> {
    await post('/v1/auth/sign-out', {})
    this.#forget()
    this.#otherTabs.postMessage('signed-out')
  }

  async #refresh(): Promise<string> {
    try {
      return this.#hold(await post<Tokens>('/v1/auth/refresh', { cookie: true }))
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
    this.#endsAt = Date.now() + expiresIn * 1000
    this.hasEnded = false
    mark(true)
    this.#become('signed-in')
    return accessToken
  }

  #forget(): void {
    this.#token = ''
    this.#endsAt = 0
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
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => {
    throw unreachable()
  })
  const text = await response.text()
  if (!response.ok) throw problemFrom(response.status, text, response.headers.get('x-request-id'))
  return (text === '' ? undefined : JSON.parse(text)) as T
}
