/**
 * `npm run drills [-- name…] [--short] [--seed n] [--rounds n] [--keep]`: interrupts real servers in every way
 * that we know of, checks that they kept what they promised, and prints a table of violations.
 */
import { parseArgs } from 'node:util'
import { type DrillResult, type DrillRun, runDrill } from './drill.ts'
import { startDrillEnvironment } from './drill-environment.ts'
import { drills } from './drills.ts'
import { resultTable } from './result-table.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: 'boolean', default: false },
    seed: { type: 'string' },
    rounds: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
})
process.exitCode = await main()

async function main(): Promise<number> {
  const unknown = positionals.filter((name) => !Object.hasOwn(drills, name))
  if (unknown.length > 0) {
    console.error(`There is no drill ${unknown.join(', ')}. There are: ${Object.keys(drills).join(', ')}.`)
    return 2
  }
  let current: DrillRun | null = null
  let environment: { stop(): Promise<void> } | null = null
  const stop = (signal: NodeJS.Signals) => {
    console.error(`\nStopped by ${signal}: cleaning up.`)
    const end = async () => {
      await current?.close()
      await environment?.stop()
    }
    void end().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143))
  }
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const results: DrillResult[] = []
  try {
    environment = await startDrillEnvironment()
    for (const [name, drill] of Object.entries(drills)) {
      if (positionals.length > 0 && !positionals.includes(name)) continue
      const obstacle = drill.obstacle?.() ?? null
      if (obstacle) {
        console.log(`${name}: skipped, ${obstacle}`)
        continue
      }
      const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed)
      console.log(`${name}: ${drill.title} (seed ${seed})`)
      const print = (line: string) => console.log(`  ${line}`)
      const rounds = values.rounds === undefined ? undefined : Number(values.rounds)
      const options = { seed, short: values.short, keep: values.keep, print, rounds }
      const result = await runDrill(name, drill, options, (run) => {
        current = run
      })
      if (result.error) console.error(result.error)
      results.push(result)
    }
  } finally {
    await environment?.stop()
  }
  console.log(resultTable(results))
  const isClean = results.every(
    ({ violations, error, rounds, wantedRounds }) =>
      violations.length === 0 && error === null && rounds >= wantedRounds,
  )
  return isClean ? 0 : 1
}
