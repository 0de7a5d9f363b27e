import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runSuite } from '../../../scripts/conformance/run-suite.ts'
import { needs } from '../../../scripts/test-run/needs.ts'
import { openOgc } from './testing/open-ogc.ts'
import { randomPlaces } from './testing/random-places.ts'

needs('time')

test('the abstract tests of OGC API - Features, Tiles and Records pass', async (t) => {
  const service = await openOgc(t)
  const description = { title: 'Places', license: 'https://example.org/license' }
  await service.publish('places', randomPlaces(300, 21, false), { timeColumn: 'at', description })
  await service.publish('shapes', randomPlaces(300, 22), { timeColumn: 'day' })
  const rows = randomPlaces(20, 23).map((place) => ({ ...place, geometry: null }))
  await service.publish('rows', rows)
  const heights = randomPlaces(20, 24, false).map((place, i) => ({
    ...place,
    geometry: { type: 'Point', coordinates: [i, i, i * 10] },
  }))
  await service.publish('heights', heights)
  const outcomes = await runSuite(`${service.url}/v1/ogc`, service.key)
  assert.deepEqual(
    outcomes.filter(({ result }) => result === 'failed'),
    [],
  )
  assert.ok(outcomes.filter(({ result }) => result === 'passed').length > 95)
})
