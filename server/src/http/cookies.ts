import type { FastifyRequest } from 'fastify'

/** The raw value of a cookie, without decoding. */
export function readCookie(request: FastifyRequest, name: string): string | undefined {
  for (const pair of request.headers.cookie?.split(';') ?? []) {
    const at = pair.indexOf('=')
    if (pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}

/** Builds a cookie with SameSite=Strict and HttpOnly, sent only for requests below the path. */
export function strictCookie(
  name: string,
  value: string,
  { path, maxAge, secure }: { path: string; maxAge: number; secure: boolean },
): string {
  return `${name}=${value}; Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
}
