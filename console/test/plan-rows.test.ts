import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Product } from '@wayleave/contract/records'
import { planRows } from '../src/billing/plan-rows.ts'

const NONE = { requestsPerMinute: null, featuresPerDay: null, keys: null, members: null }
const plan = (part: Partial<Product>) =>
  ({ credits: 0, keepsCredits: false, limits: NONE, ...part }) as Product

test('plans are compared by what one of them has or limits, and by nothing else', () => {
  const rows = planRows([
    plan({ credits: 50, limits: { ...NONE, keys: 5 } }),
    plan({ credits: 1400, keepsCredits: true }),
    plan({}),
  ])
  assert.deepEqual(rows, [
    { name: 'Credits each period', texts: ['50', '1,400', '–'] },
    { name: 'Credits that are left', texts: ['Lapse', 'Are kept', '–'] },
    { name: 'Keys', texts: ['5', 'No limit', 'No limit'] },
  ])
  assert.deepEqual(planRows([plan({}), plan({})]), [])
})
