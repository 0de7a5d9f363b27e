import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { openAccount } from '../../testing/account.ts'
import { emptyPlace, newPlace, type Place, serverAt } from '../../testing/backup-place.ts'
import { runCommand, runProgramFile } from '../../testing/processes/run-command.ts'
import { points, publishText } from '../../testing/publish.ts'
import { databaseKinds, emptyDatabase, temporaryFolder } from '../../testing/test-server.ts'

needs('postgres', 'processes')

const document = readFileSync(new URL('../../../../docs/operating.md', import.meta.url), 'utf8')

/** The commands in the code blocks between two headings, in order. */
function commandsOf(from: string, to: string): string[][] {
  const section = document.slice(document.indexOf(`\n${from}\n`), document.indexOf(`\n${to}\n`))
  return [...section.matchAll(/^npx wayleave (.*)$/gm)].map((match) => match[1]!.split(' '))
}

for (const kind of databaseKinds) {
  test(`${kind}: the documented steps of backup, restore, move and checks work as written`, async (t) => {
    const steps = [
      ...commandsOf('## Backup and restore', '### From SQLite to PostgreSQL'),
      ...commandsOf('## Checks', '## What grows'),
      ...(kind === 'sqlite' ? commandsOf('### From SQLite to PostgreSQL', '## Checks') : []),
    ]
    assert.equal(steps.length, kind === 'sqlite' ? 7 : 6)
    const old = await newPlace(t, kind)
    const fresh = await emptyPlace(t, kind)
    const target = join(temporaryFolder(t), 'backup')
    const service = await serverAt(t, old)
    const ada = await openAccount(service, 'ada@example.org', { addOns: ['GIS_ACCESS'] })
    await publishText(service, 'places', 'places.geojson', points(100))
    const page = (running: Awaited<ReturnType<typeof serverAt>>) =>
      running.request('GET', '/v1/ogc/collections/places/items?limit=1', { key: ada.key })
    const moved = kind === 'sqlite' ? await emptyDatabase(t) : ''

    for (const step of steps) {
      // The document says to stop the server for these commands only.
      if (step[0] === 'database' || (step[0] === 'restore' && !step.includes('--verify')))
        await service.stop()
      const place: Place = step.includes('/var/lib/wayleave-new') ? fresh : old
      const args = step.map((word) =>
        word
          .replace('/backup/wayleave', target)
          .replace(/^\/var\/lib\/wayleave(-new)?$/, place.dataDir)
          .replace(/^postgres:\/\/.*/, moved),
      )
      // On one of the databases, each command runs in a process of its own, as in the document.
      const run = kind === 'sqlite' ? runProgramFile : runCommand
      const { code, stdout, stderr } = await run(place, ...args)
      assert.equal(code, 0, `${step.join(' ')}: ${stdout}${stderr}`)
    }
    assert.equal((await page(await serverAt(t, fresh))).status, 200)
    if (kind === 'sqlite') {
      const onPostgres = await serverAt(t, { dataDir: old.dataDir, databaseUrl: moved })
      assert.equal((await page(onPostgres)).status, 200)
    }
  })
}

test('every setting of retention that the document names exists with that default', async () => {
  const { settings } = await import('../../base/settings/settings.ts')
  const rows = [...document.matchAll(/`(WAYLEAVE_KEEP_\w+)`, (\d+|all)/g)]
  assert.equal(rows.length, 7)
  for (const [, variable, value] of rows) {
    const setting = Object.values(settings).find((row) => row.variable === variable)
    assert.equal(String(setting?.default ?? 'all'), value, variable)
  }
})
