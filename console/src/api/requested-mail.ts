import { session } from './session.ts'

/** A sign-in mail that was asked for. */
export interface RequestedMail {
  email: string
  /** Binds the code to this tab: the code works only together with it. */
  request: string
}

/** As long as the code of a mail works. */
const LIFE_MS = 15 * 60_000

const ENTRY = 'requested-mail'

session.subscribe(() => {
  if (session.state === 'signed-in') forgetRequestedMail()
})

/** Remembers the mail in this tab, so that its code can still be entered after a reload. */
export function rememberRequestedMail({ email, request }: RequestedMail): void {
  try {
    sessionStorage.setItem(ENTRY, JSON.stringify({ email, request, endsAt: Date.now() + LIFE_MS }))
  } catch {
    // If storage is blocked, a reload leads to the form for the address.
  }
}

export function forgetRequestedMail(): void {
  try {
    sessionStorage.removeItem(ENTRY)
  } catch {
    // If storage is blocked, there is none.
  }
}

/** The mail that was asked for in this tab and whose code may still work; null if there is none. */
export function requestedMail(): RequestedMail | null {
  try {
    const { email, request, endsAt } = JSON.parse(sessionStorage.getItem(ENTRY) ?? '{}') as {
      [name: string]: unknown
    }
    if (typeof email !== 'string' || typeof request !== 'string') return null
    return Number(endsAt) > Date.now() ? { email, request } : null
  } catch {
    return null
  }
}
