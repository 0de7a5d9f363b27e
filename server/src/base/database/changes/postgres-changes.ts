import type { JobKind } from '@wayleave/contract/job-states'
import { sql } from 'kysely'
import { SECOND } from '../../clock.ts'
import { type NodeTime, systemTime } from '../../node-time.ts'
import { DatabaseError } from '../database-error.ts'
import type { ControlDatabase } from '../open.ts'
import { ChangeFeed, type Changes, type Position, type Settle } from './changes.ts'
import { type NodeLink, notifyOfMessage, postgresLink } from './node-link.ts'
import { commitNotifying, ServingNode, UPKEEP } from './serving-node.ts'

/** How long a change waits for the other nodes. Leases last two seconds, so a longer wait means a fault. */
const ACKNOWLEDGE_WITHIN = 20 * SECOND

export interface NodeOptions {
  nodeId: string
  /** False for the command line, which makes changes and caches nothing. */
  serving: boolean
  /** The kinds of jobs that this process runs. */
  jobKinds?: readonly JobKind[]
  settle?: Settle
  /** Of several serving threads: the name of the channel between them. On PostgreSQL, each of them is a node. */
  channel?: string | undefined
  /** The machine on which the node runs, which simulations replace. */
  time?: NodeTime
  link?: NodeLink | undefined
}

/**
 * On PostgreSQL every serving node holds a lease of two seconds and acknowledges the changes it has applied.
 * A change waits for the acknowledgement of each node whose lease is valid. The lease of a disconnected node
 * expires on the database's clock; before that, the node stops trusting its caches, on its own clock.
 *
 * A database that may be another one than before is not used until it is settled (see `Settle`): requests wait
 * for it, and fail with 503 if it takes long.
 */
export async function openPostgresChanges(database: ControlDatabase, options: NodeOptions): Promise<Changes> {
  const { nodeId, serving, jobKinds = [], settle = async () => {}, time = systemTime } = options
  const link = options.link ?? postgresLink(database.url!, UPKEEP)
  const feed = new ChangeFeed()
  const messageListeners: ((message: string) => void)[] = []
  const receive = (message: string) => {
    for (const listener of messageListeners) listener(message)
  }
  const node = serving
    ? new ServingNode(database, { nodeId, feed, jobKinds, settle, receive, time, link })
    : null
  await node?.start()

  return {
    async commit(work) {
      const { result, position } = await commitNotifying(database, work)
      if (position !== null) {
        await node?.catchUpOrDistrust()
        await node?.oldLeasesLapsed()
        await acknowledgedByAll(database, position, time)
      }
      return result
    },
    trusted: () => node?.trusted() ?? false,
    async appliedEverywhere() {
      await node?.catchUpOrDistrust()
      if (feed.position.number > 0) await acknowledgedByAll(database, feed.position, time)
    },
    get applied() {
      return feed.applied
    },
    listen: (listener) => feed.listen(listener),
    async sendMessage(message) {
      await notifyOfMessage(message).execute(database.db)
    },
    onMessage: (listener) => void messageListeners.push(listener),
    close: async () => node?.stop(),
  }
}

/**
 * A node has acknowledged the change if it acknowledged this number or a later one of the same history. A
 * number from before a restore has a different token, and does not count. Nodes that have no tokens yet,
 * during an upgrade, are compared by number alone.
 */
async function acknowledgedByAll(
  database: ControlDatabase,
  { number, token }: Position,
  time: NodeTime,
): Promise<void> {
  const deadline = time.now() + ACKNOWLEDGE_WITHIN
  for (let wait = 2; ; wait = Math.min(wait * 2, 50)) {
    const { rows } = await sql<{ is_stored: boolean; behind: string | null }>`select
      exists (select 1 from changes where number = ${number} and token = ${token}) as is_stored,
      (select id from nodes where lease_until > ${database.time()}
        and (acknowledged < ${number} or (token is not null and not exists (
          select 1 from changes where changes.number = nodes.acknowledged and changes.token = nodes.token)))
        limit 1) as behind`.execute(database.db)
    if (!rows[0]!.is_stored)
      throw new DatabaseError('database-unavailable', 'The database was restored, and has lost the change.')
    if (rows[0]!.behind === null) return
    if (time.now() > deadline)
      throw new DatabaseError('database-unavailable', `The change is saved, and a node has not applied it.`)
    await time.sleep(wait)
  }
}
