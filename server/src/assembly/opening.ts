import type { SharedLoads } from '@wayleave/geodata/base'
import type { Logger } from 'pino'
import type { Clock } from '../base/clock.ts'
import type { DataWork } from '../base/data-work.ts'
import type { Config } from '../base/settings/config.ts'
import type { ThreadLink } from '../base/threads/thread-link.ts'
import type { ThreadPlace } from '../base/threads/thread-place.ts'

/** What the parts of the service are opened with. */
export interface Opening {
  config: Config
  log: Logger
  clock: Clock
  /** False for the command line, which makes changes and serves no requests. */
  serving: boolean
  /** Of several threads that serve; absent if one does. */
  thread?: ThreadPlace | undefined
  /** What the threads have loaded into shared memory; absent if one serves. */
  loads?: SharedLoads | undefined
  /** Asks the first thread; absent in it. */
  first?: Pick<ThreadLink, 'ask' | 'tell' | 'on'> | undefined
  /** By default in child processes. */
  work?: DataWork
  /** How long a reply of Redis may take, in milliseconds. */
  redisReplyMs?: number
}
