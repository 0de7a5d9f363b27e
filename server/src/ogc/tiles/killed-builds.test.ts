import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { startServerProcess } from '../../testing/processes/server-process.ts'
import { temporaryFolder } from '../../testing/test-server.ts'
import { until } from '../../testing/until.ts'

needs('processes')

/** Spread over the world, so that the deep zooms have a tile for nearly every point and take some seconds. */
function spreadPoints(count: number): string {
  const features = Array.from({ length: count }, (_, i) => ({
    type: 'Feature',
    properties: { name: `place ${i}` },
    geometry: { type: 'Point', coordinates: [((i * 137.508) % 360) - 180, ((i * 61.803) % 160) - 80] },
  }))
  return JSON.stringify({ type: 'FeatureCollection', features })
}

/** The process that builds tiles for a server; undefined if there is none. */
function builderOf(server: number | undefined): number | undefined {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8')
      if (!status.includes(`\nPPid:\t${server}\n`)) continue
      if (readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('build-tiles-process')) return Number(name)
    } catch {
      // It ended meanwhile.
    }
  }
  return undefined
}

function isRunning(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/status`, 'utf8').includes('State:\tZ')
  } catch {
    return false
  }
}

test('a build whose process or server is killed leaves nothing behind and is started again', async (t) => {
  const dataDir = temporaryFolder(t)
  const file = join(dataDir, 'places.geojson')
  writeFileSync(file, spreadPoints(4000))
  assert.equal(
    (await runCommand({ dataDir, databaseUrl: null }, 'publish', file, '--table', 'places')).code,
    0,
  )
  const [snapshot] = readdirSync(join(dataDir, 'snapshots')).filter((name) => name.startsWith('places_'))
  const folder = join(dataDir, 'snapshots', snapshot!, 'tiles')
  const files = () => {
    try {
      const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      return names.filter((name) => !name.startsWith('lock'))
    } catch {
      return []
    }
  }
  const partials = () => files().filter((name) => name.includes('.partial-'))
  const partialsOf = (pid: number) => partials().filter((name) => name.includes(`.partial-${pid}`))
  const environment = { WAYLEAVE_TILES: 'true', WAYLEAVE_LOG_LEVEL: 'silent' }
  const building = async (server: { child: { pid?: number | undefined } }) => {
    const pid = await until('the builder', () => builderOf(server.child.pid))
    await until('a partial file', () => partialsOf(pid).length > 0)
    return pid
  }

  const first = await startServerProcess(t, dataDir, environment)
  const killed = await building(first)
  process.kill(killed, 'SIGKILL')
  const second = await until('the second builder', () => {
    const pid = builderOf(first.child.pid)
    return pid !== undefined && pid !== killed && pid
  })
  // The next build removes them when it starts.
  await until('the end of the partial files', () => partialsOf(killed).length === 0)
  await until('a partial file', () => partials().length > 0)
  await first.kill()
  await until('the end of the builder', () => !isRunning(second))
  // The process that builds removes the archive when its server is gone. Partitions are for the next build.
  assert.deepEqual(
    partialsOf(second).filter((name) => !name.startsWith('.tiles.pmtiles.partitions/')),
    [],
  )

  // What a build leaves whose process and server were killed at once.
  writeFileSync(join(folder, 'tiles.pmtiles.partial-999999999'), 'half')
  writeFileSync(join(folder, 'progress.json'), '{"progress":0.5}')
  const idle = await startServerProcess(t, dataDir, { WAYLEAVE_TILE_JOBS: '0' })
  await until('the end of the files', () => files().length === 0)
  await idle.kill()

  const last = await startServerProcess(t, dataDir, environment)
  await until('the tiles', () => files().includes('tiles.pmtiles.meta.json') && partials().length === 0)
  const response = await fetch(`${last.url}/v1/dataset/places`)
  const { tiles } = (await response.json()) as { tiles: { state: string } }
  assert.ok(['building', 'ready'].includes(tiles.state))
  await until('the end of the builder', () => builderOf(last.child.pid) === undefined)
  assert.deepEqual(files().sort(), ['tiles.pmtiles', 'tiles.pmtiles.meta.json'])
})
