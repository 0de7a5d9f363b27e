import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PositionRuns } from '@wayleave/geodata/features'
import { PageBuilder } from './page-builder.ts'

test('a page that is interrupted keeps its positions when the next page uses the same runs', () => {
  const shared = new PositionRuns()
  const first = new PageBuilder(1, 3, shared)
  first.addRun(4, 6)
  first.releaseRuns()
  const second = new PageBuilder(0, 3, shared)
  second.addRun(100, 200)
  first.addRun(6, 7)
  first.add(9)
  const pages = [first.finish(), second.finish()].map(({ runs, more }) => [[...runs.toArray()], more])
  assert.deepEqual(pages, [
    [[5, 6, 9], false],
    [[100, 101, 102], true],
  ])
})
