import { acknowledgeVersion, followJob, forgetStamp, forgetVersions } from '../load/dataset-operations.ts'
import { stampIn } from '../load/sources.ts'
import type { World } from '../world.ts'
import { type AccountPromise, isTableInDoubt, type KeyPromise, type TablePromise } from './promises.ts'

/** Within this time a replaced refresh token returns the same successor again; the contract says 10 s. */
const SAME_SUCCESSOR_MS = 8000
/** On PostgreSQL a job is taken over when its worker has been silent for ten seconds; rounds do not wait. */
const JOB_WITHIN_MS = { long: 5000, short: 500 }
const LAST_JOB_WITHIN_MS = 240_000
/** How long to wait for an interrupted upload to appear before the drill continues. */
const APPEAR_WITHIN_MS = 1500

/**
 * Determines the outcome of operations that got no response, once the service is up again. Each took effect
 * completely or not at all; the outcome is a promise from then on.
 */
export async function settle(world: World): Promise<void> {
  await settleSessions(world)
  await world.keepSignedIn()
  for (const key of world.promises.keys) if (key.pending) await settleKey(world, key)
  for (const account of world.promises.accounts) await settleAccount(world, account)
  for (const table of world.promises.tables) if (isTableInDoubt(table)) await settleTable(world, table)
}

async function settleSessions(world: World): Promise<void> {
  for (const session of world.promises.sessions) {
    if (session.pending === null) continue
    const { refreshToken } = session
    const elapsed = Date.now() - session.pendingSince
    const response = await world.send('POST', '/v1/auth/refresh', { body: { refreshToken } })
    if (session.pending === 'refresh' && elapsed < SAME_SUCCESSOR_MS) {
      const promised = `a refresh without a response can be repeated within ${SAME_SUCCESSOR_MS / 1000} s`
      world.run.expect(response.status === 200, promised, `${response.status}`)
    }
    session.isOpen = response.status === 200
    if (session.isOpen) session.refreshToken = response.body.refreshToken
    session.pending = null
  }
}

async function settleKey(world: World, key: KeyPromise): Promise<void> {
  const account = world.promises.accounts[key.account]!
  const token = account.accessToken
  if (key.pending === 'create') {
    const path = key.scope === 'personal' ? 'my-keys' : `organization/${account.organizationId}`
    const { body } = await world.send('GET', `/v1/api-keys/${path}`, { token })
    const record = body?.data.find(({ name }: { name: string }) => name === key.name)
    // The response with the secret was lost, so nothing can use the key.
    if (record) Object.assign(key, { id: record.id, state: 'active' })
    key.pending = null
    return
  }
  const { status, body } = await world.send('GET', `/v1/api-keys/${key.id}`, { token })
  const change = key.pending
  if (status !== 200 && status !== 404) return
  const hasHappened = {
    delete: status === 404,
    revoke: body.status === 'revoked',
    rotate: body.rotatedAt !== key.rotatedAt,
  }[change!]
  key.pending = null
  if (!hasHappened) return
  if (key.secret) key.refusedSecrets.push(key.secret)
  key.secret = null
  if (change === 'rotate') key.rotatedAt = body.rotatedAt
  else key.state = change === 'revoke' ? 'revoked' : 'absent'
}

async function settleAccount(world: World, account: AccountPromise): Promise<void> {
  const token = account.accessToken
  const path = `/v1/organization/${account.organizationId}`
  if (account.pendingArchives !== null) {
    const { body } = await world.send('GET', '/v1/organization/me', { token })
    account.hasArchives = body.addOns.includes('ARCHIVED_DATA')
    account.pendingArchives = null
  }
  if (account.members.some(({ pending }) => pending)) {
    const { body } = await world.send('GET', `${path}/members`, { token })
    for (const member of account.members.filter(({ pending }) => pending)) {
      const record = body.data.find(({ email }: { email: string }) => email === member.email)
      Object.assign(member, { isMember: record !== undefined, pending: null })
      if (record) member.userId = record.userId
    }
  }
  if (account.invitations.some(({ pending }) => pending)) {
    const { body } = await world.send('GET', `${path}/invitations`, { token })
    for (const invitation of account.invitations.filter(({ pending }) => pending)) {
      const record = body.data.find(({ email }: { email: string }) => email === invitation.email)
      Object.assign(invitation, { isOpen: record !== undefined, pending: null })
      if (record) invitation.id = record.id
    }
  }
}

async function settleTable(world: World, table: TablePromise): Promise<void> {
  if (table.job) await followJob(world, table, JOB_WITHIN_MS[world.run.short ? 'short' : 'long'])
  const deadline = performance.now() + APPEAR_WITHIN_MS
  for (;;) {
    await adoptVersions(world, table)
    if (table.possibleStamps.length === 0 || performance.now() > deadline) break
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  table.lateStamps.push(...table.possibleStamps)
  table.possibleStamps = []
  if (table.pendingDescription) {
    const { body } = await world.send('GET', `/v1/dataset/${table.table}`)
    if (body?.title === table.pendingDescription.title) table.description = table.pendingDescription
    table.pendingDescription = null
  }
}

/** At the end of a run every job must have ended. */
export async function settleJobs(world: World): Promise<void> {
  for (const table of world.promises.tables) {
    if (table.job) await followJob(world, table, LAST_JOB_WITHIN_MS)
    world.run.expect(table.job === null, 'every job ends', `a job of ${table.table} does not`)
  }
}

/** Adds the versions of publishes with an unknown outcome, and determines whether an unpublish happened. */
export async function adoptVersions(world: World, table: TablePromise): Promise<void> {
  const { status, body } = await world.send('GET', `/v1/dataset/${table.table}/archives`)
  if (status === 404 && table.pendingUnpublish) forgetVersions(table)
  if (status === 200 || status === 404) table.pendingUnpublish = false
  if (status !== 200) return
  const promisedVersions = new Set(table.versions.map(({ version }) => version))
  for (const { version } of body.data as { version: number }[]) {
    if (promisedVersions.has(version)) continue
    const path = `/v1/dataset/${table.table}/archives/${version}/files/geojson`
    const stamp = stampIn((await world.send('GET', path, { key: world.promises.platformKey })).bytes)
    const possibleStamps = [...table.possibleStamps, ...table.lateStamps, table.job?.stamp]
    const isPossible = stamp !== null && possibleStamps.includes(stamp)
    const promised = `every version of ${table.table} comes of one publishing that was not reported as failed`
    if (world.run.expect(isPossible, promised, `version ${version} holds ${stamp}`)) {
      table.lateStamps = table.lateStamps.filter((one) => one !== stamp)
      forgetStamp(table, stamp!)
      acknowledgeVersion(world, table, stamp!, version)
    }
  }
}
