import type { FastifyRequest } from 'fastify'

/** The value of a cookie whose characters need no decoding. */
export function readCookie(request: FastifyRequest, name: string): string | undefined {
  for (const pair of request.headers.cookie?.split(';') ?? []) {
    const at = pair.indexOf('=')
    if (pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}

/** Only our own pages send it, no script reads it, and it goes nowhere but below the path. */
export function strictCookie(
  name: string,
  value: string,
  { path, maxAge, secure }: { path: string; maxAge: number; secure: boolean },
): string {
  return `${name}=${value}; Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
}
