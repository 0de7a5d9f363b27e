import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openOgc, point } from '../testing/open-ogc.ts'

test('a page that is requested again is read with the columns and the Accept that it has then', async (t) => {
  const service = await openOgc(t)
  await service.publish('places', [point(1, 1, { kind: 'well' }), point(2, 2, { kind: 'park' })])
  const path = '/collections/places/items?limit=5&kind=park'
  const again = async (headers = {}) => {
    const first = await service.get(path, { headers })
    let last = first
    for (let i = 0; i < 3; i++) {
      last = await service.get(path, { headers })
      assert.equal(last.status, first.status)
      assert.equal(last.text.replace(TIME, ''), first.text.replace(TIME, ''))
    }
    return last
  }
  const matches = async () => (await again()).body.features.map(({ properties }: Feature) => properties)
  assert.deepEqual(await matches(), [{ kind: 'park' }])
  assert.match((await again({ accept: 'text/csv' })).headers.get('content-type')!, /^text\/csv/)
  assert.deepEqual(await matches(), [{ kind: 'park' }])

  await service.publish('places', [point(3, 3, { sort: 'park' })])
  const refused = await again()
  assert.equal(refused.status, 400)
  assert.equal(refused.body.code, 'invalid-input')

  await service.publish('places', [point(4, 4, { more: 1, kind: 'park' })])
  assert.deepEqual(await matches(), [{ more: 1, kind: 'park' }])
})

const TIME = /"timeStamp":"[^"]*"|"requestId":"[^"]*"/

interface Feature {
  properties: object
}
