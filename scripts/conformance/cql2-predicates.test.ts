import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readPredicates } from './cql2-predicates.ts'

const text = `
|===
|Test id: | /conf/a
|===
[options="header"]
|===
|Data Source |Predicate |Expected number of items
|cities |\`name\\<='a|b'\` |12
|===
|===
|Dependency |Data Source |Predicate |Expected number of items
|n/a |rivers |\`S_WITHIN(geom,POLYGON\\((0 0,1 0,1 1,0 0)))\` |3
|===
|===
|p1 |p2 |p3 |p4 |Expected number of items
|\`a=1\` |\`b=2\` |\`c=3\` |\`d=4\` |5
|===
`

test('predicates are read from all tables with expected numbers', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'predicates-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'annex_ats_some.adoc'), text)
  writeFileSync(join(folder, 'annex_history.adoc'), text)
  assert.deepEqual(readPredicates(folder), [
    { layer: 'cities', filter: "name<='a|b'", expected: 12 },
    { layer: 'rivers', filter: 'S_WITHIN(geometry,POLYGON((0 0,1 0,1 1,0 0)))', expected: 3 },
    {
      layer: 'ne_110m_populated_places_simple',
      filter: '(NOT (b=2) AND a=1) OR (c=3 and d=4) or not (a=1 OR d=4)',
      expected: 5,
    },
  ])
})
