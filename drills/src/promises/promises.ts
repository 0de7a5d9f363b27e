import type { Source } from '../load/sources.ts'

/**
 * What the service has promised so far, as its clients know it. An operation records what it is about to do
 * (`pending`) before it sends anything. A success turns it into a promise; a refusal withdraws it; any other
 * outcome leaves it pending until `settle.ts` determines whether it happened.
 */
export interface Promises {
  accounts: AccountPromise[]
  keys: KeyPromise[]
  tables: TablePromise[]
  sessions: SessionPromise[]
  /** Every file that was ever sent, by its stamp. */
  sources: Record<string, Source>
  /** The number of requests by key id: the usage must never count more. */
  requestsByKey: Record<string, number>
  /** The administrator of the platform, and a platform key that reads and writes. */
  administrator: Credentials
  platformKey: string
  sequence: number
}

/** A signed-in user. */
export interface Credentials {
  email: string
  accessToken: string
  accessTokenAt: number
  refreshToken: string
}

/** An organization with its owner. */
export interface AccountPromise extends Credentials {
  organizationId: string
  /** Each grant has a unique amount, which identifies its ledger row. */
  grants: { amount: number; pending: boolean }[]
  hasArchives: boolean
  pendingArchives: boolean | null
  members: MemberPromise[]
  invitations: InvitationPromise[]
  /** Downloads whose response reported a charge. */
  charges: { keyId: string; table: string; format: string; amount: number }[]
}

export interface MemberPromise {
  email: string
  userId: string | null
  isMember: boolean
  pending: 'add' | 'remove' | null
}

export interface InvitationPromise {
  email: string
  id: string | null
  isOpen: boolean
  pending: 'invite' | 'withdraw' | null
}

export interface KeyPromise {
  name: string
  /** The index of its account. */
  account: number
  scope: 'personal' | 'organization'
  id: string | null
  /** The working secret; null if no response returned it. */
  secret: string | null
  rotatedAt: string | null
  /** Secrets that must get 401 from now on. */
  refusedSecrets: string[]
  state: 'active' | 'revoked' | 'absent'
  pending: 'create' | 'rotate' | 'revoke' | 'delete' | null
}

export interface TablePromise {
  table: string
  /** The promised versions, oldest first. */
  versions: { version: number; stamp: string }[]
  /** Publishes without a success or a refusal: each may have become a version, once. */
  possibleStamps: string[]
  /**
   * Interrupted uploads that had not become a version when the server was up again. The server may have
   * received them completely and may publish them later, so they may still appear.
   */
  lateStamps: string[]
  /** An upload that got 202. */
  job: JobPromise | null
  pendingUnpublish: boolean
  /** Null before the first publish. */
  description: Description | null
  pendingDescription: Description | null
}

export interface Description {
  title: string
  credits: number
}

export interface JobPromise {
  id: string
  stamp: string
  /** How often a server was killed that may have been working on it. */
  interruptions: number
}

export interface SessionPromise {
  email: string
  refreshToken: string
  isOpen: boolean
  pending: 'refresh' | 'sign-out' | null
  pendingSince: number
  /** The token of the redeemed link, which must not work again. */
  usedLink: string
}

/** The service fails the job if the server ended this many times while publishing the file. */
const MAX_ATTEMPTS = 3

export function mayFail(job: JobPromise): boolean {
  return job.interruptions >= MAX_ATTEMPTS
}

/**
 * Must be called whenever a process is killed. To the server, a compiling process that gets SIGKILL looks
 * like one that ran out of memory, so its job fails at once.
 */
export function noteInterruption(promises: Promises, victim: 'server' | 'worker'): void {
  for (const { job } of promises.tables) if (job) job.interruptions += victim === 'worker' ? MAX_ATTEMPTS : 1
}

export function nextNumber(promises: Promises): number {
  promises.sequence++
  return promises.sequence
}

export function newTable(table: string): TablePromise {
  return {
    table,
    versions: [],
    possibleStamps: [],
    lateStamps: [],
    job: null,
    pendingUnpublish: false,
    description: null,
    pendingDescription: null,
  }
}

/** Whether the outcome of an operation on the table is still unknown. */
export function isTableInDoubt(table: TablePromise): boolean {
  return (
    table.possibleStamps.length > 0 ||
    table.job !== null ||
    table.pendingUnpublish ||
    table.pendingDescription !== null
  )
}

/** Keys that are known to work and whose secret is known. */
export function workingKeys(promises: Promises): (KeyPromise & { id: string; secret: string })[] {
  return promises.keys.filter(
    (key): key is KeyPromise & { id: string; secret: string } =>
      key.state === 'active' && key.pending === null && key.id !== null && key.secret !== null,
  )
}
