import { type KeyPromise, nextNumber } from '../promises/promises.ts'
import type { World } from '../world.ts'
import { outcomeOf } from './http-client.ts'

/** Owners create, rotate, revoke and delete keys over HTTP; the operator does so with commands. */
export async function createKey(world: World): Promise<void> {
  const { promises, run } = world
  const account = run.random.integer(0, promises.accounts.length - 1)
  const owner = promises.accounts[account]!
  const scope = run.random.pick(['personal', 'organization'] as const)
  const key: KeyPromise = {
    name: `key-${nextNumber(promises)}`,
    account,
    scope,
    id: null,
    secret: null,
    rotatedAt: null,
    refusedSecrets: [],
    state: 'absent',
    pending: 'create',
  }
  promises.keys.push(key)
  const path = `/v1/api-keys/${scope === 'personal' ? 'personal' : `organization/${owner.organizationId}`}`
  const response = await world.send('POST', path, {
    token: owner.accessToken,
    body: { name: key.name, permissions: ['read'] },
  })
  const outcome = outcomeOf(response)
  if (outcome === 'unknown') return
  key.pending = null
  if (outcome === 'acknowledged') {
    Object.assign(key, { id: response.body.id, secret: response.body.secret, state: 'active' })
  }
}

export const rotateKey = (world: World) => changeKey(world, 'rotate')
export const revokeKey = (world: World) => changeKey(world, 'revoke')
export const deleteKey = (world: World) => changeKey(world, 'delete')

async function changeKey(world: World, change: 'rotate' | 'revoke' | 'delete'): Promise<void> {
  const candidates = world.promises.keys.filter(
    (key) => key.pending === null && key.id !== null && isChangeable(key, change) && !world.busy.has(key.id),
  )
  if (candidates.length === 0) return createKey(world)
  const key = world.run.random.pick(candidates)
  await world.exclusively(key.id!, async () => {
    key.pending = change
    const byCommand = world.run.random.chance(0.08)
    const result = byCommand
      ? await changeByCommand(world, key, change)
      : await changeOverHttp(world, key, change)
    if (result.outcome === 'unknown') return
    key.pending = null
    if (result.outcome === 'acknowledged') await acknowledge(world, key, change, result.body)
  })
}

function isChangeable(key: KeyPromise, change: string): boolean {
  return change === 'delete' ? key.state !== 'absent' : key.state === 'active'
}

async function changeOverHttp(world: World, key: KeyPromise, change: string) {
  const token = world.promises.accounts[key.account]!.accessToken
  const path = `/v1/api-keys/${key.id}`
  const response =
    change === 'delete'
      ? await world.send('DELETE', path, { token })
      : await world.send('POST', `${path}/${change}`, { token })
  return { outcome: outcomeOf(response), body: response.body }
}

async function changeByCommand(world: World, key: KeyPromise, change: string) {
  world.run.operations++
  const { code, stdout } = await world.installation.command(['key', change, key.id!])
  return code === 0
    ? { outcome: 'acknowledged' as const, body: JSON.parse(stdout) }
    : { outcome: 'unknown' as const, body: undefined }
}

async function acknowledge(
  world: World,
  key: KeyPromise,
  change: 'rotate' | 'revoke' | 'delete',
  body: { secret?: string; rotatedAt?: string },
): Promise<void> {
  const { secret } = key
  if (secret) key.refusedSecrets.push(secret)
  key.secret = change === 'rotate' ? (body.secret ?? null) : null
  if (change === 'rotate') key.rotatedAt = body.rotatedAt ?? null
  else key.state = change === 'revoke' ? 'revoked' : 'absent'
  if (secret) await expectRefused(world, key, secret, `the ${change} was acknowledged`)
}

/** The most important promise: a revoked secret gives no access on any node. */
export async function expectRefused(
  world: World,
  key: KeyPromise,
  secret: string,
  because: string,
): Promise<void> {
  for (const node of [...world.installation.nodes]) {
    const { status } = await world.sendWithKey(key.id!, secret, '/v1/datasets', { node })
    world.run.expect(status !== 200, `${because}: the secret of ${key.name} gets 401`, `200 on ${node.name}`)
  }
}
