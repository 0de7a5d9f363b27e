import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCommand } from '../testing/processes/run-command.ts'
import { earlierReleases, unpackRelease } from '../testing/releases.ts'
import { openTestServer, temporaryFolder } from '../testing/test-server.ts'

test('there is a fixture of every earlier release in the changelog', () => {
  const text = readFileSync(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8')
  const released = [...text.matchAll(/^## (\d+\.\d+\.\d+) /gm)].map(([, version]) => version)
  assert.ok(released.length > 0 && earlierReleases.length > 0)
  // That of the newest one is made after its release.
  for (const version of released.slice(1))
    assert.ok(
      earlierReleases.some((release) => release.version === version),
      `scripts/upgrades makes ${version}`,
    )
})

for (const release of earlierReleases) {
  test(`a data folder of ${release.version} is opened, migrated and served`, async (t) => {
    const dataDir = unpackRelease(release, temporaryFolder(t))
    const service = await openTestServer(t, { dataDir })
    const key = release.secret
    const items = await service.request('GET', '/v1/ogc/collections/trees/items?filter=height>2', { key })
    assert.equal(items.status, 200, items.text)
    assert.equal(items.body.features.length, 4)
    const metadata = await service.request('GET', '/v1/dataset/trees')
    assert.deepEqual([metadata.body.title, metadata.body.rows], ['Trees', 5])
    for (const format of ['csv', 'geojson', 'gpkg']) {
      const download = await service.request('GET', `/v1/dataset/trees/files/${format}`, { key })
      assert.equal(download.status, 200, download.text)
    }
    // One of the ten credits was spent with the release, and a format can be fetched again for a day.
    const { body } = await service.request('GET', '/v1/dataset/trees/archives', { key })
    assert.equal(body.data.length, 1)
    const [organization] = (await runCommand(service.config, 'org', 'list', '--json')).json.data
    assert.equal(organization.id, release.organizationId)
    assert.deepEqual(organization.addOns.toSorted(), ['API_ACCESS', 'ARCHIVED_DATA', 'GIS_ACCESS'])
    assert.ok(
      organization.credits.balance >= 6 && organization.credits.balance <= 9,
      organization.credits.balance,
    )
    const report = await runCommand(service.config, 'verify', '--json')
    assert.equal(report.code, 0, report.stdout)
    // The next version is published beside the old one.
    const file = join(dataDir, 'trees.csv')
    writeFileSync(file, 'species,longitude,latitude\noak,5,52\n')
    const published = await runCommand(service.config, 'publish', file, '--table', 'trees', '--json')
    assert.equal(published.json.version, 2, published.stdout + published.stderr)
    const archived = await service.request('GET', '/v1/dataset/trees/archives/1/files/json', { key })
    assert.equal(archived.body.length, 5)
  })
}

test('a data folder of a newer release is refused in a sentence, or its newer snapshots are', async (t) => {
  const dataDir = unpackRelease(earlierReleases[0]!, temporaryFolder(t))
  const [snapshot] = readdirSync(join(dataDir, 'snapshots')).filter((name) => name.startsWith('trees'))
  const file = join(dataDir, 'snapshots', snapshot!, 'manifest.json')
  assert.ok(existsSync(file))
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...manifest, formatVersion: 99 }))
  const service = await openTestServer(t, { dataDir })
  const key = earlierReleases[0]!.secret
  const items = await service.request('GET', '/v1/ogc/collections/trees/items', { key })
  assert.deepEqual([items.status, items.body.code], [503, 'data-damaged'])
  assert.ok(
    service.logLines.some((line) => /newer/.test(line)),
    service.logLines.join(''),
  )
})
