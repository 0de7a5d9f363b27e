import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actionWords } from '@wayleave/contract/action-words'
import type { EventRecord } from '@wayleave/contract/records'
import {
  actorId,
  actorWords,
  detailWords,
  isAlarming,
  subjectName,
  subjectPath,
} from '../src/organization/event-words.ts'
import { signed } from '../src/words.ts'

const event = (subject: string, detail: EventRecord['detail']): EventRecord => ({
  id: 1,
  at: '2026-11-15T08:00:00Z',
  actor: 'operator',
  actorName: null,
  action: 'tested',
  subject,
  subjectName: null,
  address: null,
  requestId: null,
  detail,
})

test('an event names its subject as it is called now, else as it was then, else by its id', () => {
  const created = event('key:key_1', { name: 'Town map' })
  assert.equal(subjectName({ ...created, subjectName: 'Map of the town' }), 'Map of the town')
  assert.equal(subjectName(created), 'Town map')
  assert.equal(subjectName(event('user:usr_1', { email: 'a@example.org' })), 'a@example.org')
  assert.equal(subjectName(event('organization:org_1', {})), 'Organization org_1')
  assert.equal(subjectName(event('signing-key:key_1', {})), 'Signing key key_1')
  assert.equal(subjectName(event('dataset:parcels', {})), 'parcels')
  assert.equal(subjectName(event('invitation:inv_1', {})), 'An invitation')
  assert.equal(subjectName(event('address:2001:db8::/32', {})), '2001:db8::/32')
})

test('an event leads to its subject if the reader can open it', () => {
  const member = { keys: ['key_1'], tables: ['parcels'] }
  const administrator = { keys: null, tables: [] }
  const named = (subject: string) => ({ ...event(subject, {}), subjectName: 'Now' })
  assert.equal(subjectPath(event('dataset:parcels', {}), member), '/datasets/parcels')
  assert.equal(subjectPath(event('dataset:removed', {}), member), null)
  assert.equal(subjectPath(named('key:key_1'), member), '/keys/key_1')
  for (const subject of ['key:key_of_another', 'user:usr_1', 'organization:org_1', 'installation'])
    assert.equal(subjectPath(named(subject), member), null, subject)
  assert.equal(subjectPath(named('key:key_2'), administrator), null, 'it may be a key of an organization')
  assert.equal(subjectPath(named('user:usr_1'), administrator), '/administration/users/usr_1')
  assert.equal(subjectPath(event('user:usr_1', {}), administrator), null, 'a deleted user has no page')
  assert.equal(subjectPath(named('job:job_1'), administrator), null)
})

test('an event names who did it: by address or name, or in words', () => {
  const done = event('key:key_1', {})
  assert.equal(actorWords({ ...done, actor: 'user:usr_1', actorName: 'a@example.org' }), 'a@example.org')
  assert.equal(actorWords({ ...done, actor: 'user:usr_1' }), 'A deleted user (usr_1)')
  assert.equal(actorWords({ ...done, actor: 'key:key_1' }), 'A deleted key (key_1)')
  assert.deepEqual([actorId({ ...done, actor: 'key:key_1' }), actorId(done)], ['key_1', null])
  assert.deepEqual(
    [actorWords(done), actorWords({ ...done, actor: 'system' })],
    ['The operator', 'The service'],
  )
})

test('an event’s details are in words: numbers grouped, times in UTC, and nothing empty', () => {
  const granted = event('organization:org_1', { amount: 123456789, balance: 0, removed: [], note: null })
  assert.equal(detailWords(granted), 'amount 123,456,789 · balance 0')
  const detail = { name: 'Town map', permissions: ['read', 'write'], expiresAt: '2026-12-08T12:12:17.935Z' }
  assert.equal(
    detailWords(event('key:key_1', detail)),
    'reads all datasets, publishes all datasets · expires 8 Dec 2026, 12:12 UTC',
  )
})

test('a failed source tells what was wrong and how often', () => {
  const failed = event('dataset:stops', { problem: 'It responded with the status 404.', failures: 2 })
  assert.equal(detailWords(failed), 'It responded with the status 404. · failed 2 times in a row')
})

test('an event is a sentence without codes', () => {
  assert.equal(actionWords('key.created'), 'Key created')
  assert.equal(actionWords('dataset.rolled-back'), 'Dataset rolled back')
  assert.equal(actionWords('session.ended'), 'Signed out')
  assert.deepEqual(['key.refused', 'key.revoked'].map(isAlarming), [true, false])
  assert.equal(detailWords(event('user:usr_1', { from: 'org_1' })), '')
  assert.match(detailWords(event('session:ses_1', { reason: 'reuse' })), /^because its token was used twice/)
  assert.equal(
    detailWords(event('key:key_1', { scope: 'user', permissions: ['read:a'] })),
    'personal · reads a',
  )
  assert.equal(
    detailWords(event('key:key_1', { scope: 'user', test: true, creditLimit: 200 })),
    'personal · a test key · 200 credits a month',
  )
  assert.equal(detailWords(event('key:key_1', { test: false, creditLimit: null })), '')
  const product = { revision: 1, name: 'Town', price: 4900, currency: 'EUR', credits: 50 }
  assert.equal(detailWords(event('product:prd_1', product)), 'revision 1 · €49.00 · 50 credits')
  const order = { productId: 'prd_1', amount: 14_900, currency: 'EUR', credits: 1000, provider: 'invoice' }
  assert.equal(detailWords(event('order:ord_1', order)), '€149.00 · 1,000 credits · by invoice')
  assert.equal(subjectName(event('order:ord_1', order)), 'An order')
  assert.equal(
    detailWords(event('billing:org_1', { changed: ['company', 'taxNumber'] })),
    'company, tax number',
  )
  assert.equal(detailWords(event('dataset:a', { version: 2, rows: 4 })), 'version 2 · 4 rows')
  const webhook = { host: 'hooks.example.org', events: ['dataset.published', 'key.created'] }
  assert.equal(
    detailWords(event('webhook:whk_1', webhook)),
    'host hooks.example.org · told of: dataset published, key created',
  )
  const member = { permissions: ['APIKEY_VIEW', 'BILLING_VIEW'] }
  assert.equal(detailWords(event('user:usr_1', member)), 'see keys, see usage and credits')
  assert.equal(detailWords(event('organization:org_1', { addOns: ['GIS_ACCESS'] })), 'add-ons Maps and GIS')
})

test('credits granted and spent both have a sign', () => {
  assert.deepEqual([1500, 0, -1500].map(signed), ['+1,500', '0', '−1,500'])
})
