import type { AccountPromise, SessionPromise } from '../promises/promises.ts'
import { nextNumber } from '../promises/promises.ts'
import { linkFromMail, type World } from '../world.ts'
import { outcomeOf } from './http-client.ts'

/** Adds credits: over HTTP as the administrator, or with the operator's command. Each amount is unique. */
export async function grantCredits(world: World): Promise<void> {
  const { promises, run } = world
  const account = run.random.pick(promises.accounts)
  const grant = { amount: 100 + nextNumber(promises), pending: true }
  account.grants.push(grant)
  let isDone: boolean
  if (run.random.chance(0.2)) {
    run.operations++
    const args = ['org', 'credits', account.organizationId, '--add', String(grant.amount)]
    isDone = (await world.installation.command(args)).code === 0
  } else {
    const path = `/v1/admin/organizations/${account.organizationId}/credits`
    const token = promises.administrator.accessToken
    isDone = (await world.send('POST', path, { token, body: { add: grant.amount } })).status === 200
  }
  if (isDone) grant.pending = false
}

export async function toggleArchives(world: World): Promise<void> {
  const { promises, run } = world
  const account = run.random.pick(promises.accounts)
  if (account.pendingArchives !== null) return
  await world.exclusively(`add-ons of ${account.organizationId}`, async () => {
    const hasArchives = !account.hasArchives
    account.pendingArchives = hasArchives
    const outcome = run.random.chance(0.2)
      ? await toggleByCommand(world, account, hasArchives)
      : outcomeOf(
          await world.send('PATCH', `/v1/admin/organizations/${account.organizationId}`, {
            token: promises.administrator.accessToken,
            body: { addOns: ['API_ACCESS', 'GIS_ACCESS', ...(hasArchives ? ['ARCHIVED_DATA'] : [])] },
          }),
        )
    if (outcome === 'unknown') return
    account.pendingArchives = null
    if (outcome === 'acknowledged') account.hasArchives = hasArchives
  })
}

async function toggleByCommand(world: World, account: AccountPromise, hasArchives: boolean) {
  world.run.operations++
  const remove = hasArchives ? [] : ['--remove']
  const args = ['org', 'add-on', account.organizationId, 'ARCHIVED_DATA', ...remove]
  return (await world.installation.command(args)).code === 0 ? 'acknowledged' : 'unknown'
}

export async function addMember(world: World): Promise<void> {
  const account = world.run.random.pick(world.promises.accounts)
  const email = `member-${nextNumber(world.promises)}@example.org`
  const member = { email, userId: null as string | null, isMember: false, pending: 'add' as 'add' | null }
  account.members.push(member)
  world.run.operations++
  const { code, stdout } = await world.installation.command(['org', 'member', account.organizationId, email])
  if (code !== 0) return
  member.pending = null
  member.isMember = true
  member.userId = JSON.parse(stdout).userId ?? null
}

export async function removeMember(world: World): Promise<void> {
  const account = world.run.random.pick(world.promises.accounts)
  const member = account.members.find(
    ({ isMember, pending, userId }) => isMember && pending === null && userId !== null,
  )
  if (!member) return addMember(world)
  member.pending = 'remove'
  const path = `/v1/organization/${account.organizationId}/members/${member.userId}`
  const outcome = outcomeOf(await world.send('DELETE', path, { token: account.accessToken }))
  if (outcome === 'unknown') return
  member.pending = null
  if (outcome === 'acknowledged') member.isMember = false
}

export async function invite(world: World): Promise<void> {
  const account = world.run.random.pick(world.promises.accounts)
  const email = `guest-${nextNumber(world.promises)}@example.org`
  const invitation = { email, id: null as string | null, isOpen: false, pending: 'invite' as 'invite' | null }
  account.invitations.push(invitation)
  const path = `/v1/organization/${account.organizationId}/invitations`
  const response = await world.send('POST', path, { token: account.accessToken, body: { email } })
  const outcome = outcomeOf(response)
  if (outcome === 'unknown') return
  invitation.pending = null
  if (outcome === 'acknowledged') Object.assign(invitation, { isOpen: true, id: response.body.id })
}

export async function withdrawInvitation(world: World): Promise<void> {
  const account = world.run.random.pick(world.promises.accounts)
  const invitation = account.invitations.find(
    ({ isOpen, pending, id }) => isOpen && pending === null && id !== null,
  )
  if (!invitation) return invite(world)
  invitation.pending = 'withdraw'
  const path = `/v1/organization/${account.organizationId}/invitations/${invitation.id}`
  const outcome = outcomeOf(await world.send('DELETE', path, { token: account.accessToken }))
  if (outcome === 'unknown') return
  invitation.pending = null
  if (outcome === 'acknowledged') invitation.isOpen = false
}

/** A new user signs in. Only the response to the redeemed link promises a session. */
export async function startSession(world: World): Promise<void> {
  const email = `visitor-${nextNumber(world.promises)}@example.org`
  const linkResponse = await world.send('POST', '/v1/auth/magic-link', { body: { email } })
  if (linkResponse.status !== 202) return
  const usedLink = await linkFromMail(world.installation.dataDirs, email, 1000)
  if (usedLink === null) return
  const response = await world.send('POST', '/v1/auth/token', { body: { token: usedLink } })
  if (response.status !== 200) return
  const { refreshToken } = response.body
  world.promises.sessions.push({
    email,
    refreshToken,
    isOpen: true,
    pending: null,
    pendingSince: 0,
    usedLink,
  })
}

export async function refreshSession(world: World): Promise<void> {
  await changeSession(world, 'refresh', async (session) => {
    const { refreshToken } = session
    const response = await world.send('POST', '/v1/auth/refresh', { body: { refreshToken } })
    const outcome = outcomeOf(response)
    world.run.expect(outcome !== 'refused', `the session of ${session.email} goes on`, '401 for a refresh')
    if (outcome === 'refused') session.isOpen = false
    if (outcome === 'acknowledged') session.refreshToken = response.body.refreshToken
    return outcome
  })
}

export async function endSession(world: World): Promise<void> {
  await changeSession(world, 'sign-out', async (session) => {
    const { refreshToken } = session
    const outcome = outcomeOf(await world.send('POST', '/v1/auth/sign-out', { body: { refreshToken } }))
    if (outcome === 'acknowledged') session.isOpen = false
    return outcome
  })
}

async function changeSession(
  world: World,
  change: 'refresh' | 'sign-out',
  work: (session: SessionPromise) => Promise<string>,
): Promise<void> {
  const candidates = world.promises.sessions.filter(
    ({ isOpen, pending, email }) => isOpen && pending === null && !world.busy.has(email),
  )
  if (candidates.length === 0) return startSession(world)
  const session = world.run.random.pick(candidates)
  await world.exclusively(session.email, async () => {
    session.pending = change
    session.pendingSince = Date.now()
    if ((await work(session)) !== 'unknown') session.pending = null
  })
}
