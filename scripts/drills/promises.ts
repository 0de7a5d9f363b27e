import type { Source } from './sources.ts'

/**
 * What the service has promised so far, as its clients know it. An operation writes down what it is about to do
 * (`pending`) before it sends anything. A success makes it a promise; a refusal withdraws it; anything else
 * leaves it pending until `settle.ts` finds out whether it happened.
 */
export interface Promises {
  accounts: AccountPromise[]
  keys: KeyPromise[]
  tables: TablePromise[]
  sessions: SessionPromise[]
  /** Every file that was ever sent, by its stamp. */
  sources: Record<string, Source>
  /** Requests with each key's id: the usage must never count more. */
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
  /** Each grant has an amount of its own, by which its row of the ledger is known. */
  grants: { amount: number; pending: boolean }[]
  hasArchives: boolean
  pendingArchives: boolean | null
  members: MemberPromise[]
  invitations: InvitationPromise[]
  /** Downloads that told of a charge. */
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
  /** The secret that works; null if no response told it. */
  secret: string | null
  rotatedAt: string | null
  /** Secrets that must get 401 for ever. */
  refusedSecrets: string[]
  state: 'active' | 'revoked' | 'absent'
  pending: 'create' | 'rotate' | 'revoke' | 'delete' | null
}

export interface TablePromise {
  table: string
  /** The versions that are promised, oldest first. */
  versions: { version: number; stamp: string }[]
  /** Publishings without a success or a refusal: each may have become a version, once. */
  possibleStamps: string[]
  /**
   * Uploads that were cut off and had not become a version when the server was up again. The server may have
   * received them whole and may publish them later, so they may still appear.
   */
  lateStamps: string[]
  /** An upload that was answered with 202. */
  job: JobPromise | null
  pendingUnpublish: boolean
  /** Null before the first publishing. */
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
  /** How often a server was killed that may have worked on it. */
  interruptions: number
}

export interface SessionPromise {
  email: string
  refreshToken: string
  isOpen: boolean
  pending: 'refresh' | 'sign-out' | null
  pendingSince: number
  /** The token of the link that was redeemed: it must not work again. */
  usedLink: string
}

/** The service gives a file up if the server was ended so often while it published it. */
const MAX_ATTEMPTS = 3

export function mayFail(job: JobPromise): boolean {
  return job.interruptions >= MAX_ATTEMPTS
}

/**
 * To be called whenever a process is killed. A compiling process that gets SIGKILL looks as if the system had run
 * out of memory, so its job fails at once.
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

/** Whether the outcome of an operation on the table is still to be found out. */
export function isTableInDoubt(table: TablePromise): boolean {
  return (
    table.possibleStamps.length > 0 ||
    table.job !== null ||
    table.pendingUnpublish ||
    table.pendingDescription !== null
  )
}

/** Keys that are known to work, with a secret to use. */
export function workingKeys(promises: Promises): (KeyPromise & { id: string; secret: string })[] {
  return promises.keys.filter(
    (key): key is KeyPromise & { id: string; secret: string } =>
      key.state === 'active' && key.pending === null && key.id !== null && key.secret !== null,
  )
}
