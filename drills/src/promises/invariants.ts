import { expectRefused } from '../load/key-operations.ts'
import { differenceFrom } from '../load/sources.ts'
import type { World } from '../world.ts'
import { checkLedger, checkUsage } from './credit-invariants.ts'
import { checkDataFolder } from './folder-invariants.ts'
import type { AccountPromise, KeyPromise, SessionPromise, TablePromise } from './promises.ts'
import { adoptVersions } from './settle.ts'

/** The max number of keys, and of versions of each table, that a check covers: a long run has thousands. */
const sampleSizes = { quick: 6, thorough: 100, complete: Number.POSITIVE_INFINITY }
export type Extent = keyof typeof sampleSizes

/**
 * Checks everything that must hold between two interruptions. A quick check covers a few of each and skips
 * the ledger and the data folder. Must be called when nothing is pending and no operation runs.
 */
export async function checkInvariants(world: World, extent: Extent): Promise<void> {
  const { promises, run } = world
  const size = sampleSizes[extent]
  for (const key of run.random.sample(promises.keys, size)) await checkKey(world, key)
  // The newest keys were being changed when the interruption happened.
  for (const key of promises.keys.slice(-sampleSizes.quick)) await checkKey(world, key)
  for (const table of promises.tables) await checkTable(world, table, extent)
  for (const account of promises.accounts) await checkAccount(world, account)
  for (const session of run.random.sample(promises.sessions, size / 3)) await checkSession(world, session)
  if (extent !== 'quick') {
    for (const account of promises.accounts) {
      const rows = await checkLedger(world, account)
      await checkUsage(world, account, rows)
    }
    await checkDataFolder(world)
  }
}

/** An acknowledged key works; a revoked one does not; its record says the same. */
async function checkKey(world: World, key: KeyPromise): Promise<void> {
  if (key.id === null || key.pending) return
  const { run } = world
  const token = world.promises.accounts[key.account]!.accessToken
  const { status, body } = await world.send('GET', `/v1/api-keys/${key.id}`, { token })
  const recordState = status === 404 ? 'absent' : body?.status
  run.expect(recordState === key.state, `the record of ${key.name} says ${key.state}`, `${recordState}`)
  for (const secret of key.refusedSecrets) await expectRefused(world, key, secret, 'after an interruption')
  if (key.state !== 'active' || key.secret === null) return
  for (const node of world.installation.nodes) {
    const response = await world.sendWithKey(key.id, key.secret, '/v1/datasets', { node })
    run.expect(response.status === 200, `key ${key.name} works`, `${response.status} on ${node.name}`)
  }
}

/**
 * The versions that the service lists and those that it should have. An upload that got no response may be
 * published between the two looks; then both are taken once more.
 */
async function listVersions(
  world: World,
  table: TablePromise,
): Promise<{ status: number; listed: number[]; expected: number[] }> {
  await adoptVersions(world, table)
  for (;;) {
    const { status, body } = await world.send('GET', `/v1/dataset/${table.table}/archives`)
    const listed: number[] = status === 200 ? body.data.map((row: { version: number }) => row.version) : []
    const expected = table.versions.map(({ version }) => version).reverse()
    if (listed.join() === expected.join()) return { status, listed, expected }
    await adoptVersions(world, table)
    if (table.versions.length <= expected.length) return { status, listed, expected }
  }
}

/** Every acknowledged version is listed at its position, and its bytes are those of its source. */
async function checkTable(world: World, table: TablePromise, extent: Extent): Promise<void> {
  const { run, promises } = world
  const { status, listed, expected } = await listVersions(world, table)
  run.expect(
    listed.join() === expected.join(),
    `${table.table} has the versions ${expected.join() || 'none'}`,
    `status ${status}, versions ${listed.join() || 'none'}`,
  )
  if (table.description) {
    const metadata = await world.send('GET', `/v1/dataset/${table.table}`)
    const { title, credits } = metadata.body ?? {}
    run.expect(
      title === table.description.title && credits === table.description.credits,
      `${table.table} is described as ${JSON.stringify(table.description)}`,
      JSON.stringify({ title, credits }),
    )
  }
  // The newest version matters most.
  const older = run.random.sample(table.versions.slice(0, -1), sampleSizes[extent] / 6)
  for (const { version, stamp } of [...table.versions.slice(-1), ...older]) {
    // GeoJSON is sent from the snapshot itself; other formats are built first, which takes longer.
    const format = run.random.chance(0.1) ? run.random.pick(['csv', 'json'] as const) : 'geojson'
    const path = `/v1/dataset/${table.table}/archives/${version}/files/${format}`
    const node = run.random.pick(world.installation.nodes)
    const response = await world.send('GET', path, { key: promises.platformKey, node })
    const promised = `version ${version} of ${table.table} is served whole as ${format}`
    if (!run.expect(response.status === 200, promised, `${response.status} ${response.body?.code ?? ''}`))
      continue
    const difference = differenceFrom(promises.sources[stamp]!, format, response.bytes)
    run.expect(difference === null, promised, () => difference!)
  }
}

async function checkAccount(world: World, account: AccountPromise): Promise<void> {
  const { run } = world
  const token = account.accessToken
  const me = await world.send('GET', '/v1/organization/me', { token })
  const addOns: string[] = me.body?.addOns ?? []
  run.expect(me.status === 200, `${account.email} is signed in`, `${me.status}`)
  run.expect(
    addOns.includes('ARCHIVED_DATA') === account.hasArchives,
    `${account.email} ${account.hasArchives ? 'has' : 'does not have'} the add-on ARCHIVED_DATA`,
    addOns.join(),
  )
  const path = `/v1/organization/${account.organizationId}`
  const members = await emailsAt(world, `${path}/members`, token)
  for (const { email, isMember } of account.members) {
    run.expect(members.has(email) === isMember, `${email} is ${isMember ? 'a' : 'no'} member`, 'the opposite')
  }
  const invitations = await emailsAt(world, `${path}/invitations`, token)
  for (const { email, isOpen } of account.invitations) {
    const state = isOpen ? 'open' : 'not open'
    run.expect(invitations.has(email) === isOpen, `the invitation of ${email} is ${state}`, 'the opposite')
  }
}

async function emailsAt(world: World, path: string, token: string): Promise<Set<string>> {
  const { body } = await world.send('GET', path, { token })
  return new Set((body?.data ?? []).map(({ email }: { email: string }) => email))
}

/** An open session can be refreshed; an ended one cannot; its link works only once. */
async function checkSession(world: World, session: SessionPromise): Promise<void> {
  const { run } = world
  const { refreshToken, usedLink, email } = session
  const response = await world.send('POST', '/v1/auth/refresh', { body: { refreshToken } })
  const promised = `the session of ${email} is ${session.isOpen ? 'open' : 'ended'}`
  run.expect((response.status === 200) === session.isOpen, promised, `${response.status}`)
  if (response.status === 200) session.refreshToken = response.body.refreshToken
  const again = await world.send('POST', '/v1/auth/token', { body: { token: usedLink } })
  run.expect(again.status === 401, `the link of ${email} works once`, `${again.status}`)
}
