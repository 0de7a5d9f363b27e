import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { needs } from '../../scripts/test-run/needs.ts'
import { runDrill } from './drill.ts'
import { drills } from './drills.ts'

needs('processes')

/** A fixed seed: the same interruptions in every run, as far as the machine's speed allows. */
const SEED = 1
const ROOT = join(import.meta.dirname, '../..')

for (const [name, drill] of Object.entries(drills)) {
  if (drill.coveredBy !== undefined) continue
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

test('a drill that does not run here names the file that checks its promises', () => {
  const files = Object.values(drills).flatMap(({ coveredBy }) => coveredBy ?? [])
  assert.deepEqual(
    files.filter((file) => !existsSync(join(ROOT, file))),
    [],
  )
})
