import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { DatabaseError } from '../../base/database/database-error.ts'
import { openDatabase } from '../../base/database/open.ts'
import { makeLogger } from '../../http/observability/logger.ts'
import {
  anyScenario,
  type Scenario,
  type SimulatedNode,
  SimulatedNodes,
} from '../../testing/simulation/scenario.ts'
import { SimulatedDatabase } from '../../testing/simulation/simulated-database.ts'
import { World } from '../../testing/simulation/world.ts'
import { temporaryFolder } from '../../testing/test-server.ts'
import { AttemptLostError } from './job-errors.ts'
import { JobMessages } from './job-messages.ts'
import { JobRunner, MAX_ATTEMPTS, type RunningJob } from './job-runner.ts'
import { insertJob, type JobRow, waitingJob } from './job-store.ts'

needs('time')

const LIMITS = { nodes: 3, durationMs: 40_000, maxFaults: 10, maxFaultMs: 25_000 }
/** The max time until every job has ended: leases lapse, and retries are delayed by up to a minute each. */
const RECOVERY_MS = 600_000
const JOBS = 12
const MAX_WORK_MS = 12_000
/** Workers that stand still for longer than their leases: other workers repeat their jobs. */
const PAUSES: Scenario = {
  seed: 1,
  rates: [1000, 1000, 1000],
  offsets: [0, 0, 0],
  faults: [0, 1].flatMap((node) =>
    [8000, 30_000].map((at) => ({ at, node, kind: 'pause' as const, milliseconds: 20_000 })),
  ),
}

interface Node extends SimulatedNode {
  receiveMessage: (message: string) => void
}

/** Three workers run jobs, each of which inserts one row when it is done, in simulated time. */
class Workers {
  readonly errors: string[] = []
  /** Jobs whose insertion was confirmed. */
  readonly accepted = new Set<string>()
  /** Attempts that had lost their job when they tried to end it. */
  fenced = 0
  readonly #world: World
  readonly #database: SimulatedDatabase
  readonly #cluster: SimulatedNodes<Node>

  constructor(scenario: Scenario, file: string) {
    this.#world = new World(scenario.seed)
    this.#database = new SimulatedDatabase(this.#world, file)
    this.#database.sqlite.exec(
      `delete from jobs; create table if not exists results (job text, is_holder integer);
      delete from results`,
    )
    this.#cluster = new SimulatedNodes(this.#world, this.#database, scenario, (node, index, onOutage) =>
      this.#start(node, index, onOutage),
    )
  }

  get random(): () => number {
    return this.#world.random
  }

  async run(): Promise<void> {
    for (let i = 0; i < JOBS; i++)
      this.#world.after(this.#world.between(0, LIMITS.durationMs), () => this.#add(`job-${i}`))
    await this.#world.runUntil(LIMITS.durationMs)
    this.#database.hasDelays = false
    for (let end = LIMITS.durationMs; !this.#areEnded && end < LIMITS.durationMs + RECOVERY_MS; ) {
      end += 10_000
      await this.#world.runUntil(end)
    }
  }

  get #areEnded(): boolean {
    return this.outcomes().every(({ state }) => state === 'done' || state === 'failed')
  }

  /** The jobs, how many rows each has inserted, and how many of them as the holder of the job. */
  outcomes(): (Pick<JobRow, 'id' | 'state' | 'attempts'> & { results: number; held: number })[] {
    const query = `select id, state, attempts, count(results.job) as results, coalesce(sum(is_holder), 0) as held
      from jobs left join results on results.job = jobs.id group by jobs.id`
    return this.#database.sqlite.prepare(query).all() as never
  }

  close(): void {
    this.#database.close()
  }

  #start({ machine, link }: SimulatedNode, index: number, onOutage: () => void): Node {
    const node: Node = { machine, link, receiveMessage: () => {} }
    const listeners: ((message: string) => void)[] = []
    node.receiveMessage = (message) => {
      for (const listener of listeners) listener(message)
    }
    const runner = new JobRunner({
      database: link.open(),
      messages: new JobMessages({
        sendMessage: async (message) => this.#broadcast(message),
        onMessage: (listener) => void listeners.push(listener),
      }),
      clock: () => new Date(1e12 + machine.time.now()),
      log: makeLogger('error', (line) => this.errors.push(line)),
      nodeId: `node-${index}`,
      limits: { publish: 2, inspect: 0, export: 0, tiles: 0, part: 0 },
      time: machine.time,
    })
    const { db } = link.open()
    runner.handle('publish', {
      run: async (job) => {
        await machine.time.sleep(this.#world.between(0, MAX_WORK_MS))
        await db.transaction().execute(async (tx) => {
          const { id, lease_token } = job.row
          await sql`insert into results select id, lease_token = ${lease_token} from jobs where id = ${id}`.execute(
            tx,
          )
          await this.#finish(job, tx)
        })
      },
      problemOf: (error) => ({ detail: String(error) }),
      tooManyAttempts: () => new Error('Its worker died every time.'),
    })
    runner.start().catch((error: unknown) => {
      if (!(error instanceof DatabaseError)) this.errors.push(String(error))
      onOutage()
    })
    return node
  }

  async #finish(job: RunningJob, tx: Parameters<RunningJob['finish']>[0]): Promise<void> {
    await job.finish(tx).catch((error: unknown) => {
      if (error instanceof AttemptLostError) this.fenced++
      throw error
    })
  }

  #broadcast(message: string): void {
    for (const { machine, receiveMessage } of this.#cluster.nodes)
      machine.receive(this.#database.delay(), () => receiveMessage(message))
  }

  #add(id: string): void {
    const { link, machine } = this.#cluster.nodes[this.#world.between(0, LIMITS.nodes - 1)]!
    const at = new Date(1e12 + machine.time.now()).toISOString()
    const queue = `table ${this.#world.between(1, 3)}`
    const job = { id, kind: 'publish', table_name: queue, queue, actor: 'system', node_id: 'node' } as const
    insertJob(link.open().db, waitingJob({ ...job, request: null, at })).then(
      () => this.accepted.add(id),
      () => {},
    )
  }
}

test('a job is done once and none is lost, whatever clocks, pauses and links of its workers do', async (t) => {
  const database = await openDatabase({ dataDir: temporaryFolder(t), databaseUrl: null })
  await database.close()
  const total = { done: 0, fenced: 0, repeated: 0 }
  await fc.assert(
    fc.asyncProperty(anyScenario(LIMITS), async (scenario) => {
      const workers = new Workers(scenario, database.file!)
      // Delays of retries are random.
      const random = t.mock.method(Math, 'random', workers.random)
      try {
        await workers.run()
        const outcomes = workers.outcomes()
        assert.deepEqual(workers.errors, [])
        for (const { id, state, attempts, results, held } of outcomes) {
          const isDone = state === 'done' && results === 1 && held === 1
          const isGivenUp = state === 'failed' && results === 0 && attempts > MAX_ATTEMPTS
          assert.ok(
            isDone || isGivenUp,
            `${id} is ${state} with ${results} results, ${held} of its holder, and ${attempts} attempts`,
          )
          total.done += results
          if (attempts > 1) total.repeated++
        }
        const ids = new Set(outcomes.map(({ id }) => id))
        assert.deepEqual(
          [...workers.accepted].filter((id) => !ids.has(id)),
          [],
        )
        total.fenced += workers.fenced
      } finally {
        random.mock.restore()
        workers.close()
      }
    }),
    { numRuns: 20, endOnFailure: true, examples: [[PAUSES]] },
  )
  // The model shows nothing if nothing happens in it.
  assert.ok(total.done > 100 && total.repeated > 0 && total.fenced > 0, JSON.stringify(total))
})
