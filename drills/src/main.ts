/**
 * `npm run drills [-- name…] [--short] [--seed n] [--rounds n] [--database postgres] [--threads n] [--keep]`: interrupts
 * real servers in every way that we know of, checks that they kept their promises, and prints a table of violations.
 */
import { parseArgs } from 'node:util'
import { type DrillResult, isClean, runDrill } from './drill.ts'
import { drills } from './drills.ts'
import { startDrillEnvironment } from './environment/drill-environment.ts'
import { resultTable } from './result-table.ts'

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: 'boolean', default: false },
    seed: { type: 'string' },
    rounds: { type: 'string' },
    database: { type: 'string', default: 'sqlite' },
    threads: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
})
process.exitCode = await main()

async function main(): Promise<number> {
  const unknown = names.filter((name) => !Object.hasOwn(drills, name))
  if (unknown.length > 0) {
    console.error(`There is no drill ${unknown.join(', ')}. There are: ${Object.keys(drills).join(', ')}.`)
    return 2
  }
  const { database } = values
  if (database !== 'sqlite' && database !== 'postgres') {
    console.error('--database must be sqlite or postgres.')
    return 2
  }
  const environment = await startDrillEnvironment()
  const results: DrillResult[] = []
  try {
    for (const [name, drill] of Object.entries(drills)) {
      if (names.length > 0 && !names.includes(name)) continue
      const obstacle = drill.obstacle?.() ?? null
      if (obstacle) {
        console.log(`${name}: skipped, ${obstacle}`)
        continue
      }
      const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed)
      const rounds = values.rounds === undefined ? undefined : Number(values.rounds)
      console.log(`${name}: ${drill.title} (seed ${seed})`)
      const print = (line: string) => console.log(`  ${line}`)
      const { short, keep } = values
      const threads = values.threads === undefined ? undefined : Number(values.threads)
      const result = await runDrill(name, drill, { seed, rounds, database, threads, short, keep, print })
      if (result.error) console.error(result.error)
      results.push(result)
    }
  } finally {
    await environment.stop()
  }
  console.log(resultTable(results))
  return results.every(isClean) ? 0 : 1
}
