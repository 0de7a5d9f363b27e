import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DrillRun } from './drill.ts'
import { ADMINISTRATOR, type Installation, type ServerNode } from './environment/installation.ts'
import { type RequestOptions, type Response, request } from './load/http-client.ts'
import { type AccountPromise, type Credentials, newTable, type Promises } from './promises/promises.ts'

const MAIL_WITHIN_MS = 10_000
const REFRESH_AFTER_MS = 5 * 60_000

/** The state that operations and checks share: the installation, its promises, the work in progress. */
export class World {
  readonly run: DrillRun
  readonly installation: Installation
  readonly promises: Promises
  /** Locks: only one operation at a time changes a key, a table or an account's add-ons. */
  readonly busy = new Set<string>()
  /** The number of rows of the larger files. */
  maxRows = 4000
  /** Whether jobs may fail for reasons other than kills. */
  mayJobsFail = false

  constructor(installation: Installation, promises: Promises) {
    this.run = installation.run
    this.installation = installation
    this.promises = promises
  }

  /** Sends a request to the given node, or a random one. A 500 without a known cause is a violation. */
  async send(
    method: string,
    path: string,
    options: RequestOptions & { node?: ServerNode } = {},
  ): Promise<Response> {
    const { nodes } = this.installation
    const node = options.node ?? (nodes.length > 0 ? this.run.random.pick(nodes) : null)
    this.run.operations++
    if (!node) return { status: 0, headers: new Headers(), bytes: Buffer.alloc(0), body: undefined }
    const response = await request(node.url, method, path, options)
    if (response.status === 500 && response.body?.code !== 'build-failed') {
      this.run.violate('no request gets an internal error', `500 for ${method} ${anonymous(path)}`)
    }
    return response
  }

  /** Sends a request with an account's key, and counts it: the usage must not count more. */
  async sendWithKey(
    keyId: string,
    secret: string,
    path: string,
    options: RequestOptions & { node?: ServerNode; method?: string } = {},
  ): Promise<Response> {
    const { requestsByKey } = this.promises
    requestsByKey[keyId] = (requestsByKey[keyId] ?? 0) + 1
    return this.send(options.method ?? 'GET', path, { ...options, key: secret })
  }

  /** Runs the work if no other operation uses the subject; returns whether it ran. */
  async exclusively(subject: string, work: () => Promise<void>): Promise<boolean> {
    if (this.busy.has(subject)) return false
    this.busy.add(subject)
    try {
      await work()
      return true
    } finally {
      this.busy.delete(subject)
    }
  }

  /** Refreshes all accounts' access tokens before they expire. Only called while nothing is interrupted. */
  async keepSignedIn(): Promise<void> {
    for (const who of [this.promises.administrator, ...this.promises.accounts]) {
      if (Date.now() - who.accessTokenAt < REFRESH_AFTER_MS) continue
      const response = await this.send('POST', '/v1/auth/refresh', {
        body: { refreshToken: who.refreshToken },
      })
      const holds = response.status === 200
      this.run.expect(holds, `the session of ${who.email} goes on`, `refresh got ${response.status}`)
      if (!holds) Object.assign(who, await signIn(this, who.email))
      else {
        who.accessToken = response.body.accessToken
        who.refreshToken = response.body.refreshToken
        who.accessTokenAt = Date.now()
      }
    }
  }
}

/** Removes ids and numbers from paths, so that equal defects give equal messages. */
function anonymous(path: string): string {
  return path.replace(/\?.*$/, '').replace(/(key|org|job|usr|user|inv)_\w+/g, '$1_…')
}

export interface WorldOptions {
  tables?: number
  credits?: number
}

/** Creates what the load uses: an administrator, two organizations with credits, a platform key. */
export async function openWorld(installation: Installation, options: WorldOptions = {}): Promise<World> {
  const empty = { email: '', accessToken: '', accessTokenAt: 0, refreshToken: '' }
  const promises: Promises = {
    accounts: [],
    keys: [],
    tables: Array.from({ length: options.tables ?? 5 }, (_, i) => newTable(`table_${i}`)),
    sessions: [],
    sources: {},
    requestsByKey: {},
    administrator: empty,
    platformKey: '',
    sequence: 0,
  }
  const world = new World(installation, promises)
  promises.administrator = await signIn(world, ADMINISTRATOR)
  promises.platformKey = await createPlatformKey(world)
  for (const email of ['ada@example.org', 'grace@example.org']) {
    promises.accounts.push(await openAccount(world, email, options.credits ?? 60))
  }
  return world
}

async function createPlatformKey(world: World): Promise<string> {
  const response = await world.send('POST', '/v1/admin/keys', {
    token: world.promises.administrator.accessToken,
    body: { name: 'Publisher', permissions: ['read', 'write'] },
  })
  if (response.status !== 201) throw new Error(`Creating the platform key got ${response.status}.`)
  return response.body.secret
}

async function openAccount(world: World, email: string, credits: number): Promise<AccountPromise> {
  const credentials = await signIn(world, email)
  const me = await world.send('GET', '/v1/organization/me', { token: credentials.accessToken })
  const organizationId = me.body.id as string
  const token = world.promises.administrator.accessToken
  const path = `/v1/admin/organizations/${organizationId}`
  const addOns = await world.send('PATCH', path, { token, body: { addOns: ['API_ACCESS', 'GIS_ACCESS'] } })
  const granted = await world.send('POST', `${path}/credits`, { token, body: { add: credits } })
  if (addOns.status !== 200 || granted.status !== 200) {
    throw new Error(`Setting up ${email} got ${addOns.status} and ${granted.status}.`)
  }
  return {
    ...credentials,
    organizationId,
    grants: [{ amount: credits, pending: false }],
    hasArchives: false,
    pendingArchives: null,
    members: [],
    invitations: [],
    charges: [],
  }
}

/** Signs in as users do: requests a mail, reads it in the outbox, redeems its link. */
async function signIn(world: World, email: string): Promise<Credentials & { usedLink: string }> {
  const linkResponse = await world.send('POST', '/v1/auth/magic-link', { body: { email } })
  if (linkResponse.status !== 202) throw new Error(`The request for a link got ${linkResponse.status}.`)
  const usedLink = await linkFromMail(world.installation.dataDirs, email)
  if (usedLink === null) throw new Error(`No mail to ${email} came.`)
  const response = await world.send('POST', '/v1/auth/token', { body: { token: usedLink } })
  if (response.status !== 200) throw new Error(`Redeeming the link got ${response.status}.`)
  const { accessToken, refreshToken } = response.body
  return { email, accessToken, refreshToken, accessTokenAt: Date.now(), usedLink }
}

/** The token in the link of the next mail to the address, which is removed; null if none comes in time. */
export async function linkFromMail(
  dataDirs: readonly string[],
  email: string,
  withinMs = MAIL_WITHIN_MS,
): Promise<string | null> {
  const deadline = performance.now() + withinMs
  for (;;) {
    for (const dataDir of dataDirs) {
      const folder = join(dataDir, 'outbox')
      for (const name of await readdir(folder).catch(() => [])) {
        if (!name.endsWith('.eml')) continue
        const text = await readFile(join(folder, name), 'utf8').catch(() => '')
        if (!text.toLowerCase().includes(`\r\nto: ${email}\r\n`)) continue
        await rm(join(folder, name), { force: true })
        return /^https?:\S+#(\S+)$/m.exec(text)?.[1] ?? null
      }
    }
    if (performance.now() > deadline) return null
    await sleep(10)
  }
}
