import type { World } from '../world.ts'
import {
  addMember,
  endSession,
  grantCredits,
  invite,
  refreshSession,
  removeMember,
  startSession,
  toggleArchives,
  withdrawInvitation,
} from './account-operations.ts'
import {
  describeTable,
  publishAndWait,
  publishByCommand,
  publishByUpload,
  unpublishTable,
} from './dataset-operations.ts'
import { download, readItems, readSample } from './download-operations.ts'
import { createKey, deleteKey, revokeKey, rotateKey } from './key-operations.ts'

/** The relative weight of each operation. */
const operations: [weight: number, operation: (world: World) => Promise<void>][] = [
  [10, createKey],
  [6, rotateKey],
  [6, revokeKey],
  [3, deleteKey],
  [16, download],
  [8, readItems],
  [3, readSample],
  [5, publishByUpload],
  [3, publishByCommand],
  [3, describeTable],
  [1, unpublishTable],
  [3, grantCredits],
  [3, toggleArchives],
  [1, addMember],
  [1, removeMember],
  [2, invite],
  [1, withdrawInvitation],
  [2, startSession],
  [3, refreshSession],
  [1, endSession],
]
const totalWeight = operations.reduce((sum, [weight]) => sum + weight, 0)

/** Several concurrent clients, each of which runs one random operation after the other. */
export class Workload {
  readonly #world: World
  readonly #clients: Promise<void>[]
  #isStopping = false

  constructor(world: World, clients: number) {
    this.#world = world
    this.#clients = Array.from({ length: clients }, () => this.#work())
  }

  /** Resolves when the operations in progress have ended. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#clients)
  }

  async #work(): Promise<void> {
    while (!this.#isStopping) {
      await chooseOperation(this.#world)(this.#world)
      // Operations without anything to do return at once.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

function chooseOperation(world: World): (world: World) => Promise<void> {
  let ticket = world.run.random.next() * totalWeight
  for (const [weight, operation] of operations) {
    ticket -= weight
    if (ticket < 0) return operation
  }
  return createKey
}

/** Creates at least one key and one version of some tables, so that every operation has a subject. */
export async function prepare(world: World): Promise<void> {
  for (let i = 0; i < 4; i++) await createKey(world)
  for (let i = 0; i < 2; i++) await publishAndWait(world)
}
