import { ProblemError, problemFrom, unreachable } from './problem.ts'

export type SessionState = 'unknown' | 'signed-out' | 'signed-in'

interface Tokens {
  accessToken: string
  expiresIn: number
}

/** A token that ends this soon is renewed first, so that it does not end on the way. */
const MARGIN_MS = 30_000

/**
 * The signed-in session. The refresh token is in a cookie that no script reads; the access token is in memory
 * alone, and is gone with the page.
 */
class Session {
  state: SessionState = 'unknown'
  #token = ''
  #endsAt = 0
  #renewing: Promise<string> | null = null
  readonly #listeners = new Set<() => void>()
  readonly #otherTabs = new BroadcastChannel('session')

  constructor() {
    this.#otherTabs.onmessage = ({ data }) => {
      // Whoever signed in there may be somebody else: nothing of the user before is kept.
      this.#forget()
      if (data === 'signed-in') this.renew('').catch(() => {})
    }
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** A token that is still good. */
  async token(): Promise<string> {
    if (this.#token && Date.now() < this.#endsAt - MARGIN_MS) return this.#token
    return this.renew(this.#token)
  }

  /** Another token than the refused one; calls at the same time share one request. */
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

  async signInByCode(email: string, code: string): Promise<void> {
    this.#begin(await post<Tokens>('/v1/auth/token', { email, code, cookie: true }))
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
      if (error instanceof ProblemError && error.status === 401) this.#forget()
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
    this.#become('signed-in')
    return accessToken
  }

  #forget(): void {
    this.#token = ''
    this.#endsAt = 0
    this.#become('signed-out')
  }

  #become(state: SessionState): void {
    if (this.state === state) return
    this.state = state
    for (const listener of this.#listeners) listener()
  }
}

export const session = new Session()

/** For calls before sign-in, which carry no token. */
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
