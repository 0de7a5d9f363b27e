import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSnapshot } from '@wayleave/geodata/features'
import { collection, compileText, feature } from '@wayleave/geodata/testing'
import { planConditions } from '@wayleave/query'
import { CrsList } from './crs-list.ts'
import { readItemsQuery } from './items-query.ts'

test('the filter of a request is parsed once', async () => {
  const { folder } = await compileText(collection([feature({ value: 1 })]))
  const snapshot = await openSnapshot(folder)
  await snapshot.close()
  const dataset = { manifest: snapshot.manifest }
  const rules = { crsList: new CrsList([]) }
  const [first, second] = [1, 2].map(() => {
    const pairs = [{ name: 'filter', value: 'value = 1', raw: 'filter=value%20=%201' }]
    return planConditions(readItemsQuery(pairs, undefined, dataset as never, rules).conditions!, dataset)
  })
  assert.equal(second!.condition, first!.condition)
})
