import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestServer } from './test-server.ts'

export interface SignedInUser {
  token: string
  refreshToken: string
  userId: string
  /** Empty for a user without an organization. */
  organizationId: string
}

export interface ReceivedMail {
  /** The complete mail as it was written. */
  source: string
  link: string
  /** The part after `#` in the link. */
  token: string
  /** Empty in a mail without a code. */
  code: string
}

const PATIENCE_MS = 10_000
const usedMails = new Set<string>()

/** Signs in as users do: requests a mail, reads it from the outbox, redeems its link. */
export async function signIn(service: TestServer, email: string): Promise<SignedInUser> {
  const { token: linkToken } = await askForLink(service, email)
  const redeemed = await service.request('POST', '/v1/auth/token', { body: { token: linkToken } })
  if (redeemed.status !== 200) throw new Error(`Sign-in answered ${redeemed.status}: ${redeemed.text}`)
  const { accessToken: token, refreshToken } = redeemed.body
  const me = await service.request('GET', '/v1/auth/me', { token })
  return {
    token,
    refreshToken,
    userId: me.body.user.id,
    organizationId: me.body.organization?.id ?? '',
  }
}

export async function askForLink(service: TestServer, email: string): Promise<ReceivedMail> {
  const response = await service.request('POST', '/v1/auth/magic-link', { body: { email } })
  if (response.status !== 202)
    throw new Error(`The request for a link answered ${response.status}: ${response.text}`)
  return nextMail(service, email)
}

/** Waits for a mail to the address that no earlier call has returned, oldest first. */
export async function nextMail(service: TestServer, email: string): Promise<ReceivedMail> {
  const until = Date.now() + PATIENCE_MS
  while (Date.now() < until) {
    const mail = await untakenMail(service, email)
    if (mail) return mail
    await sleep(5)
  }
  throw new Error(`No mail to ${email} came.`)
}

/** The mail to the address that is in the outbox now, or null. */
export async function untakenMail(service: TestServer, email: string): Promise<ReceivedMail | null> {
  const folder = join(service.config.dataDir, 'outbox')
  const names = await readdir(folder).catch(() => [])
  for (const name of names.filter((one) => one.endsWith('.eml')).sort()) {
    const path = join(folder, name)
    if (usedMails.has(path)) continue
    const source = await readFile(path, 'utf8')
    if (!source.toLowerCase().includes(`\r\nto: ${email.trim().toLowerCase()}\r\n`) || usedMails.has(path))
      continue
    usedMails.add(path)
    const link = /^https?:\S+$/m.exec(source)?.[0] ?? ''
    const code = /^\d{6}\r?$/m.exec(source)?.[0].trim() ?? ''
    return { source, link, token: link.slice(link.indexOf('#') + 1).split('~', 1)[0]!, code }
  }
  return null
}
