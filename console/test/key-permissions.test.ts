import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findPlaces } from '../src/finder/find-places.ts'
import { organizationPart, pagesFor } from '../src/finder/pages.ts'
import { permissionsOf, permissionWords, reachesOf } from '../src/keys/key-permissions.ts'

test('permissions survive the form, whether for all datasets or for some', () => {
  for (const permissions of [
    ['read'],
    ['read:a', 'read:b'],
    ['read', 'write:a'],
    ['write'],
    ['read', 'admin'],
  ]) {
    assert.deepEqual(permissionsOf(reachesOf(permissions)), permissions)
  }
})

test('permissions are said in words', () => {
  assert.equal(permissionWords(['read:a', 'read:b', 'write']), 'Reads a, b, publishes all datasets')
  assert.equal(permissionWords(['admin']), 'Administers the service')
})

test('the finder offers the pages that a user may see, and no others', () => {
  const organization = { permissions: ['BILLING_VIEW'], publishing: true }
  const titles = (me: object | undefined, sells = false) =>
    pagesFor(me as never, sells).map(({ to, title }) => `${to} ${title}`)
  const [stranger, member, owner] = [
    titles(undefined),
    titles({ organization }),
    titles({ organization: { ...organization, permissions: ['DATASET_PUBLISH', 'MEMBER_MANAGE'] } }, true),
  ]
  assert.ok(stranger.includes('/sign-in Sign in') && !stranger.some((one) => one.startsWith('/keys')))
  assert.ok(member.includes('/organization/usage Usage') && member.includes('/keys Keys'))
  for (const path of [
    '/organization/events',
    '/organization/data',
    '/organization/billing',
    '/administration',
  ])
    assert.ok(!member.some((one) => one.startsWith(path)), path)
  assert.ok(owner.includes('/organization/publish Publish a dataset'))
  assert.ok(!owner.includes('/organization/usage Usage'), 'without BILLING_VIEW')
  assert.equal(organizationPart('publish')?.needs, 'DATASET_PUBLISH', 'the form is not shown in vain')
  assert.ok(titles({ organization: null, administrator: true }).includes('/administration/jobs Jobs'))
})

test('the finder lists what begins with the search first, without case and accents', () => {
  const place = (title: string, words = '') => ({ to: `/${title}`, title, group: 'Dataset', words })
  const places = [
    place('Rivers near Zürich'),
    place('Old Zürich'),
    place('Zurich'),
    place('Trees', 'zürich'),
    place('Roads'),
  ]
  const found = findPlaces(places, ' ZURICH').map(({ title }) => title)
  assert.deepEqual(found, ['Zurich', 'Rivers near Zürich', 'Old Zürich', 'Trees'])
  assert.deepEqual(
    findPlaces(places, 'zürich rivers').map(({ title }) => title),
    ['Rivers near Zürich'],
  )
  assert.equal(findPlaces(places, 'none').length, 0)
  assert.equal(findPlaces(places, '').length, 5)
})
