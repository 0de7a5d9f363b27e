import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { sql } from 'kysely'
import { needs } from '../../../../../scripts/test-run/needs.ts'
import {
  anyScenario,
  type Scenario,
  type SimulatedNode,
  SimulatedNodes,
} from '../../../testing/simulation/scenario.ts'
import { SimulatedDatabase } from '../../../testing/simulation/simulated-database.ts'
import { World } from '../../../testing/simulation/world.ts'
import { temporaryFolder } from '../../../testing/test-server.ts'
import { CoherentCache } from '../../caching/coherent-cache.ts'
import { DatabaseError } from '../database-error.ts'
import { openDatabase } from '../open.ts'
import type { Changes } from './changes.ts'
import { openPostgresChanges } from './postgres-changes.ts'

needs('time')

const LIMITS = { nodes: 3, durationMs: 15_000, maxFaults: 8, maxFaultMs: 5000 }
/** How long the nodes have to recover after the faults. */
const RECOVERY_MS = 12_000
const READS = 600
/** Times at which a number is counted up on several nodes at almost the same time, and read meanwhile. */
const BURSTS = 8
const KEYS = ['a', 'b']

interface Node extends SimulatedNode {
  /** Null until it has started. */
  changes: Changes | null
  cache: CoherentCache<number> | null
}

/**
 * Nodes that cache two numbers and count them up, in simulated time. A read that begins after a count has returned
 * must not get a smaller number, on whichever node.
 */
class Counters {
  readonly violations: string[] = []
  readonly done = { counts: 0, reads: 0, hits: 0 }
  readonly #world: World
  readonly #database: SimulatedDatabase
  readonly #cluster: SimulatedNodes<Node>
  /** The largest number of each key that a call has returned. */
  readonly #returned = new Map(KEYS.map((key) => [key, 0]))

  constructor(scenario: Scenario, file: string) {
    this.#world = new World(scenario.seed)
    this.#database = new SimulatedDatabase(this.#world, file)
    this.#database.sqlite.exec(`delete from nodes; delete from changes; update change_number set number = 0;
      create table if not exists numbers (key text primary key, value integer); delete from numbers;
      insert into numbers values ${KEYS.map((key) => `('${key}', 0)`).join()}`)
    this.#cluster = new SimulatedNodes(this.#world, this.#database, scenario, (node, index, onOutage) =>
      this.#start(node, index, onOutage),
    )
  }

  async run(): Promise<void> {
    const world = this.#world
    for (let i = 0; i < READS; i++) this.#at(world.between(0, LIMITS.durationMs), 'read')
    for (let i = 0; i < BURSTS; i++) {
      const begin = world.between(0, LIMITS.durationMs)
      for (let j = 0; j < 3; j++) this.#at(begin + world.between(0, 100), 'count')
      for (let j = 0; j < 12; j++) this.#at(begin + world.between(0, 150), 'read')
    }
    await world.runUntil(LIMITS.durationMs)
    this.#database.hasDelays = false
    await world.runUntil(LIMITS.durationMs + RECOVERY_MS)
  }

  /** Lets any node read or count up any of the numbers. */
  #at(time: number, action: 'read' | 'count'): void {
    const index = this.#world.between(0, LIMITS.nodes - 1)
    const key = KEYS[this.#world.between(0, KEYS.length - 1)]!
    this.#world.after(time, () => {
      const node = this.#cluster.nodes[index]!
      node.machine.receive(0, () => (action === 'read' ? this.#read(node, key) : this.#count(node, key)))
    })
  }

  /** After the faults, every node trusts its cache again. */
  get isRecovered(): boolean {
    return this.#cluster.nodes.every(({ changes }) => changes?.trusted())
  }

  close(): void {
    this.#database.close()
  }

  #start({ machine, link }: SimulatedNode, index: number, onOutage: () => void): Node {
    const node: Node = { machine, link, changes: null, cache: null }
    const database = link.open()
    const read = async (key: string) => {
      const query = sql<{ value: number }>`select value from numbers where key = ${key}`
      return (await query.execute(database.db)).rows[0]!.value
    }
    const isStale = (_value: number, key: string, subject: string, id: string) =>
      subject === 'key' && id === key
    openPostgresChanges(database, { nodeId: `node-${index}`, serving: true, time: machine.time, link }).then(
      (changes) => {
        node.changes = changes
        node.cache = new CoherentCache({ changes, read, isStale, maxEntries: 10 })
      },
      (error: unknown) => {
        this.#expectOutage(error)
        onOutage()
      },
    )
    return node
  }

  #count({ changes }: Node, key: string): void {
    const counting = changes?.commit(async (tx, changed) => {
      const query = sql<{
        value: number
      }>`update numbers set value = value + 1 where key = ${key} returning value`
      const { rows } = await query.execute(tx)
      changed('key', key)
      return rows[0]!.value
    })
    // A call that fails has promised nothing.
    counting?.then(
      (value) => {
        this.#returned.set(key, Math.max(value, this.#returned.get(key)!))
        this.done.counts++
      },
      (error: unknown) => this.#expectOutage(error),
    )
  }

  #read({ cache }: Node, key: string): void {
    const least = this.#returned.get(key)!
    const check = (value: number | null) => {
      this.done.reads++
      if (value! < least)
        this.violations.push(`At ${this.#world.now} ms ${value} was read after ${least} had been returned.`)
    }
    const value = cache?.get(key)
    if (typeof value === 'number') {
      this.done.hits++
      check(value)
    } else value?.then(check, (error: unknown) => this.#expectOutage(error))
  }

  /** A node may be unable to reach the database, and nothing else may fail. */
  #expectOutage(error: unknown): void {
    if (!(error instanceof DatabaseError)) this.violations.push(inspect(error))
  }
}

test('no cache serves what a change that has returned has ended, whatever clocks, pauses and links do', async (t) => {
  const database = await openDatabase({ dataDir: temporaryFolder(t), databaseUrl: null })
  await database.close()
  const total = { counts: 0, reads: 0, hits: 0 }
  await fc.assert(
    fc.asyncProperty(anyScenario(LIMITS), async (scenario) => {
      const counters = new Counters(scenario, database.file!)
      try {
        await counters.run()
        assert.deepEqual(counters.violations, [])
        assert.ok(counters.isRecovered, 'A node has not recovered.')
        for (const name of ['counts', 'reads', 'hits'] as const) total[name] += counters.done[name]
      } finally {
        counters.close()
      }
    }),
    { numRuns: 20, endOnFailure: true },
  )
  // The model shows nothing if nothing happens in it.
  assert.ok(total.hits > total.reads / 10 && total.counts > 100, JSON.stringify(total))
})
