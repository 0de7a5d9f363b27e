import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { WayleaveServer } from './wayleave-server.ts'

/** Signs in with the link of a mail, and returns the access token. */
export async function signIn({ origin, dataDir }: WayleaveServer): Promise<string> {
  await send(origin, '/v1/auth/magic-link', { email: 'ada@example.org' })
  const outbox = join(dataDir, 'outbox')
  for (;;) {
    const mail = (await readdir(outbox).catch(() => [])).find((name) => name.endsWith('.eml'))
    const link = mail && /sign-in#([\w-]+)/.exec(await readFile(join(outbox, mail), 'utf8'))?.[1]
    if (link) {
      const { accessToken } = (await send(origin, '/v1/auth/token', { token: link })) as {
        accessToken: string
      }
      return accessToken
    }
    await delay(20)
  }
}

async function send(origin: string, path: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(origin + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${path} is ${response.status}`)
  return response.status === 202 ? null : response.json()
}
