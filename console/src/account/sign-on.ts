import { post, session } from '../api/session.ts'

const NEXT = 'sign-on-next'

/** Goes to the provider of single sign-on. `next` is the page to open after signing in. */
export async function beginSignOn(next: string): Promise<void> {
  const { url } = await post<{ url: string }>('/v1/auth/oidc', undefined)
  rememberNext(next)
  window.location.assign(url)
  // Until the browser has left the page.
  return new Promise(() => {})
}

/** Whether the provider has returned the browser to this address. */
export function isSignOnResponse(search: string): boolean {
  const query = new URLSearchParams(search)
  return query.has('state') && (query.has('code') || query.has('error'))
}

/** Signs in with the response of the provider, and returns the page to open. */
export async function finishSignOn(response: string): Promise<string | null> {
  // The address must not stay in the history: it has the code.
  window.history.replaceState(window.history.state, '', '/sign-in')
  await session.signInBySignOn(response)
  return rememberedNext()
}

function rememberNext(next: string): void {
  try {
    sessionStorage.setItem(NEXT, next)
  } catch {
    // Without storage, signing in leads to the start page.
  }
}

function rememberedNext(): string | null {
  try {
    const next = sessionStorage.getItem(NEXT)
    sessionStorage.removeItem(NEXT)
    return next
  } catch {
    return null
  }
}
