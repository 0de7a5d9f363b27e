import { problemFrom, unreachable } from './problem.ts'
import { session } from './session.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * A management call with the session's access token. If the token has expired meanwhile, it is refreshed once
 * and the call is repeated.
 */
export async function call<T = void>(method: Method, path: string, body?: unknown): Promise<T> {
  const token = await session.token()
  let response = await send(method, path, body, token)
  if (response.status === 401) response = await send(method, path, body, await session.renew(token))
  const text = await response.text()
  if (!response.ok) throw problemFrom(response.status, text, response.headers.get('x-request-id'))
  return (text === '' ? undefined : JSON.parse(text)) as T
}

function send(method: Method, path: string, body: unknown, token: string): Promise<Response> {
  const headers: Record<string, string> = { authorization: `Bearer ${token}` }
  if (body !== undefined) headers['content-type'] = 'application/json'
  return fetch(path, { method, headers, body: body === undefined ? null : JSON.stringify(body) }).catch(
    () => {
      throw unreachable()
    },
  )
}
