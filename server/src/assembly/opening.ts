import type { Logger } from 'pino'
import type { Clock } from '../base/clock.ts'
import type { DataWork } from '../base/data-work.ts'
import type { Config } from '../base/settings/config.ts'

/** What the parts of the service are opened with. */
export interface Opening {
  config: Config
  log: Logger
  clock: Clock
  /** False for the command line, which makes changes and serves no requests. */
  serving: boolean
  /** By default in child processes. */
  work?: DataWork
  /** How long a reply of Redis may take, in milliseconds. */
  redisReplyMs?: number
}
