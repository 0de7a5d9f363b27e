import { mkdtempSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { SeededRandom } from './seeded-random.ts'

/** One kind of drill. Every file in `kinds/` exports one as `drill`. */
export interface Drill {
  title: string
  /** The number of interruptions of the long and the short version. */
  rounds: { long: number; short: number }
  /** The long version stops after this many minutes and then counts as incomplete. */
  maxMinutes: number
  /**
   * The test file that checks the same promises with interruptions at chosen moments. `npm test` runs that file
   * instead of the short version of this drill.
   */
  coveredBy?: string
  /** The reason why the drill cannot run here, or null. */
  obstacle?(): string | null
  run(run: DrillRun): Promise<void>
}

export interface Violation {
  round: number
  promised: string
  observed: string
}

export interface DrillOptions {
  seed: number
  short: boolean
  /** Leaves folders and logs in place after the run. */
  keep?: boolean
  print?: (line: string) => void
  /** Overrides the number of rounds. */
  rounds?: number
  /** For drills that run on both; SQLite without it. */
  database?: 'sqlite' | 'postgres'
}

const NOTE_EVERY = 50

/** One run of a drill: its random source, its counts, its violations, and its cleanup. */
export class DrillRun {
  readonly seed: number
  readonly short: boolean
  readonly database: 'sqlite' | 'postgres'
  readonly random: SeededRandom
  readonly folder: string
  readonly violations: Violation[] = []
  readonly wantedRounds: number
  rounds = 0
  operations = 0
  checks = 0
  readonly #deadline: number
  readonly #print: (line: string) => void
  readonly #keep: boolean
  readonly #cleanups: (() => unknown)[] = []
  #cleaning: Promise<void> | null = null

  constructor(name: string, drill: Drill, options: DrillOptions) {
    this.seed = options.seed
    this.short = options.short
    this.database = options.database ?? 'sqlite'
    this.random = new SeededRandom(options.seed)
    this.wantedRounds = options.rounds ?? (options.short ? drill.rounds.short : drill.rounds.long)
    this.#deadline = performance.now() + drill.maxMinutes * 60_000
    this.#print = options.print ?? (() => {})
    this.#keep = options.keep ?? false
    this.folder = mkdtempSync(join(tmpdir(), `wayleave-drill-${name}-`))
    this.cleanUp(() => {
      if (this.#keep) this.note(`The folder is kept: ${this.folder}`)
      else rmSync(this.folder, { recursive: true, force: true })
    })
  }

  /** Whether another round is due, within the time limit. */
  nextRound(): boolean {
    if (this.rounds >= this.wantedRounds || performance.now() > this.#deadline) return false
    this.rounds++
    if (this.rounds % NOTE_EVERY === 0) this.note(`round ${this.rounds} of ${this.wantedRounds}`)
    return true
  }

  /** Counts a check; a broken promise is a violation. Each pair of messages is reported once. */
  expect(holds: boolean, promised: string, observed: string | (() => string)): boolean {
    this.checks++
    if (!holds) this.violate(promised, typeof observed === 'string' ? observed : observed())
    return holds
  }

  violate(promised: string, observed: string): void {
    const isReported = this.violations.some((one) => one.promised === promised && one.observed === observed)
    if (isReported) return
    this.violations.push({ round: this.rounds, promised, observed })
    this.note(`violation in round ${this.rounds}: promised: ${promised}; observed: ${observed}`)
  }

  note(line: string): void {
    this.#print(line)
  }

  /** Registers cleanup for the end of the run, executed in reverse order; also after an error or Ctrl-C. */
  cleanUp(work: () => unknown): void {
    this.#cleanups.push(work)
  }

  close(): Promise<void> {
    this.#cleaning ??= this.#close()
    return this.#cleaning
  }

  async #close(): Promise<void> {
    for (const work of this.#cleanups.reverse()) {
      try {
        await work()
      } catch (error) {
        this.note(`Cleaning up failed: ${error instanceof Error ? error.message : error}`)
      }
    }
  }
}

/** The result of one run of a drill. */
export interface DrillResult {
  name: string
  seed: number
  rounds: number
  wantedRounds: number
  operations: number
  checks: number
  violations: Violation[]
  /** Set if the drill itself failed, so that its result is meaningless. */
  error: Error | null
}

/** Runs one drill to its end and always cleans up, also when a signal ends this process. */
export async function runDrill(name: string, drill: Drill, options: DrillOptions): Promise<DrillResult> {
  const run = new DrillRun(name, drill, options)
  const leave = (signal: NodeJS.Signals) => {
    run.note(`Stopped by ${signal}: cleaning up.`)
    void run.close().finally(() => process.exit(128 + constants.signals[signal]))
  }
  process.once('SIGINT', leave).once('SIGTERM', leave)
  let error: Error | null = null
  try {
    await drill.run(run)
  } catch (cause) {
    error = cause instanceof Error ? cause : new Error(String(cause))
  } finally {
    await run.close()
    process.off('SIGINT', leave).off('SIGTERM', leave)
  }
  const { seed, rounds, wantedRounds, operations, checks, violations } = run
  return { name, seed, rounds, wantedRounds, operations, checks, violations, error }
}

/** Whether there was no violation and all rounds are done. */
export function isClean({ violations, error, rounds, wantedRounds }: DrillResult): boolean {
  return violations.length === 0 && error === null && rounds >= wantedRounds
}
