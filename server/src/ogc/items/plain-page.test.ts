import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PositionRuns, Snapshot } from '@wayleave/geodata/features'
import { type QueryEngine, TimedWork, Unfinished } from '@wayleave/query'
import type { ItemsDeps, PageRequest } from './items-page.ts'
import { plainPageInMemory, StartedPage } from './plain-page.ts'
import type { SelectedPage } from './select-page.ts'

const work = new TimedWork({ owner: 'test', maxMs: 60_000 })

/** Each page adds the next position to its runs, stops, and adds the one after it. */
function stoppingEngine(): QueryEngine {
  let position = 0
  const page: QueryEngine['page'] = (_snapshot, _query, _plan, { runs }) => {
    const own: PositionRuns = runs!
    const first = position
    position += 10
    own.clear()
    own.add(first, first + 1)
    return new Unfinished(async () => {
      own.add(first + 2, first + 3)
      return { runs: own, more: false }
    })
  }
  return { page, countCheaply: () => 2 } as unknown as QueryEngine
}

test('a page that is interrupted keeps its positions when the next pages begin', async () => {
  const snapshots = { peek: () => ({}) as Snapshot }
  const deps = { engine: stoppingEngine(), snapshots } as unknown as ItemsDeps
  const request = { version: {}, query: {}, after: -1 } as unknown as PageRequest
  const started = [1, 2, 3].map(() => plainPageInMemory(request, null, 10, deps))
  const positions: number[][] = []
  for (const page of started) {
    assert.ok(page instanceof StartedPage)
    const selecting = page.selecting as Unfinished<SelectedPage>
    const { selected } = await selecting.finish(work)
    positions.push([...selected.runs.toArray()])
  }
  assert.deepEqual(positions, [
    [0, 2],
    [10, 12],
    [20, 22],
  ])
})
