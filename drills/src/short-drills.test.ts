import assert from 'node:assert/strict'
import { test } from 'node:test'
import { needs } from '../../scripts/test-run/needs.ts'
import { runDrill } from './drill.ts'
import { drills } from './drills.ts'

needs('postgres', 'redis', 's3', 'processes')

/** A fixed seed: the same interruptions in every run, as far as the machine's speed allows. */
const SEED = 1

for (const [name, drill] of Object.entries(drills)) {
  const obstacle = drill.obstacle?.() ?? false
  test(`nothing that was promised is lost: ${drill.title}`, { skip: obstacle }, async (t) => {
    const print = (line: string) => t.diagnostic(line)
    const result = await runDrill(name, drill, { seed: SEED, short: true, print })
    if (result.error) throw result.error
    assert.deepEqual(result.violations, [])
    assert.equal(result.rounds, result.wantedRounds)
    assert.ok(result.checks > 0, 'the drill checked something')
  })
}
