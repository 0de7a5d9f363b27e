import { RequestThread } from '../../threads/request-thread.ts'
import type { PartitionOrder } from './build-partition.ts'
import type { NamedFileAsk, PartitionRequest } from './partition-thread.ts'
import type { PlanOptions, TilePlan } from './tile-plan.ts'
import type { TileSourceOptions } from './tile-source.ts'

/** A thread ends when all partitions are built. */
const IDLE_MS = 10

/** Replies to what a thread asks of a file. `thread` numbers the threads, which read independently of each other. */
export type ReplyToAsk = (thread: number, ask: NamedFileAsk) => void

let started = 0

/** A thread that plans, or builds partitions one after the other. */
export class PartitionThread {
  readonly #source: TileSourceOptions
  readonly #thread: RequestThread<PartitionRequest, TilePlan | null>

  constructor(source: TileSourceOptions, reply?: ReplyToAsk) {
    const number = ++started
    this.#source = source
    this.#thread = new RequestThread(new URL('./partition-thread.ts', import.meta.url), IDLE_MS, (message) =>
      reply?.(number, message as NamedFileAsk),
    )
  }

  async build(order: PartitionOrder): Promise<void> {
    await this.#thread.perform({ source: this.#source, order }, [])
  }

  async plan(options: PlanOptions): Promise<TilePlan> {
    return (await this.#thread.perform({ source: this.#source, order: { plan: options } }, []))!
  }
}
