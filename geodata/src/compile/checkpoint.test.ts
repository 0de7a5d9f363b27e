import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { compileSnapshot } from './compile.ts'
import { collection, feature, scratch } from './compile-fixture.ts'
import type { CompileOptions, CompileProgress } from './compile-options.ts'

const text = (letter: string) =>
  collection([1, 2, 3].map((n) => feature({ letter, n }, { type: 'Point', coordinates: [n, n] })))
const TIME = new Date('2026-01-01')
let serial = 0

/** Options for attempts at one source, and the phases of the last attempt. */
function attempts(given: Partial<CompileOptions['resume']> = {}) {
  const place = join(scratch, `attempts-${++serial}`)
  mkdirSync(join(place, 'kept'), { recursive: true })
  const path = join(place, 'a.geojson')
  writeFileSync(path, text('a'))
  utimesSync(path, TIME, TIME)
  const resume = { folder: join(place, 'kept'), version: '1', minRows: 1, ...given }
  const options: CompileOptions = { path, folder: join(place, 'snapshot'), threads: 1, resume }
  const phases: string[] = []
  const attempt = (change: Partial<CompileOptions> = {}, endsIn?: string) => {
    phases.length = 0
    const onProgress = ({ phase }: CompileProgress) => {
      phases.push(phase)
      if (phase === endsIn) throw new Error('ended')
    }
    return compileSnapshot({ ...options, ...change }, onProgress)
  }
  const pack = () => readFileSync(join(options.folder, 'features.pack'), 'utf8')
  return { path, options, phases, attempt, pack, kept: resume.folder }
}

test('an attempt goes on after what an earlier one has read', async () => {
  const { path, phases, attempt, pack, kept } = attempts()
  await assert.rejects(attempt({}, 'sorting'), /ended/)
  // The same state by its size and times: nobody reads it again.
  writeFileSync(path, text('b'))
  utimesSync(path, TIME, TIME)
  const { manifest, report } = await attempt()
  assert.deepEqual([manifest.rows, report.rows, phases.includes('reading')], [3, 3, false])
  assert.match(pack(), /"letter":"a"/)
  assert.deepEqual(readdirSync(kept), [], 'nothing is kept of what succeeded')
})

test('another source, other options and another program begin anew', async () => {
  const { path, options, phases, attempt, pack } = attempts()
  await assert.rejects(attempt({}, 'sorting'), /ended/)
  writeFileSync(path, text('bb'))
  await assert.rejects(attempt({}, 'sorting'), /ended/)
  assert.ok(phases.includes('reading'))
  for (const change of [{ idColumn: 'n' }, { resume: { ...options.resume!, version: '2' } }]) {
    await assert.rejects(attempt(change, 'sorting'), /ended/)
    assert.ok(phases.includes('reading'), JSON.stringify(change))
  }
  await attempt()
  assert.match(pack(), /"letter":"bb"/)
})

test('few rows are read again, and an attempt that ends while it reads leaves no checkpoint', async () => {
  const few = attempts({ minRows: 4 })
  await assert.rejects(few.attempt({}, 'sorting'), /ended/)
  assert.equal(existsSync(join(few.kept, 'staging', 'checkpoint')), false)
  const reading = attempts()
  await assert.rejects(reading.attempt({}, 'reading'), /ended/)
  assert.equal(existsSync(join(reading.kept, 'staging', 'checkpoint')), false)
  await reading.attempt()
  assert.match(reading.pack(), /"letter":"a"/)
})
