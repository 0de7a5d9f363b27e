import { writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Description,
  isTableInDoubt,
  mayFail,
  nextNumber,
  type TablePromise,
} from '../promises/promises.ts'
import type { World } from '../world.ts'
import { outcomeOf } from './http-client.ts'
import { fileOf, newSource, type Source } from './sources.ts'

/** Picks a table whose state is known and that no other operation uses. */
async function withTable(
  world: World,
  isSuitable: (table: TablePromise) => boolean,
  work: (table: TablePromise) => Promise<void>,
): Promise<void> {
  const candidates = world.promises.tables.filter(
    (table) => !isTableInDoubt(table) && !world.busy.has(table.table) && isSuitable(table),
  )
  if (candidates.length === 0) return
  const table = world.run.random.pick(candidates)
  await world.exclusively(table.table, () => work(table))
}

function takeSource(world: World): Source {
  const source = newSource(world.run.random, nextNumber(world.promises), world.maxRows)
  world.promises.sources[source.stamp] = source
  return source
}

/** `wayleave publish`: exit code 0 promises that the version is served. */
export function publishByCommand(world: World): Promise<void> {
  return withTable(
    world,
    () => true,
    async (table) => {
      const source = takeSource(world)
      const path = join(world.run.folder, `${source.stamp}.${source.format}`)
      writeFileSync(path, fileOf(source))
      table.possibleStamps.push(source.stamp)
      world.run.operations++
      const exports = world.run.random.chance(0.1) ? ['--build-exports'] : []
      const { code, stdout } = await world.installation.command([
        'publish',
        path,
        '--table',
        table.table,
        ...exports,
      ])
      await rm(path, { force: true })
      if (code === 0) acknowledgeVersion(world, table, source.stamp, JSON.parse(stdout).version)
    },
  )
}

/** `PUT /v1/dataset/<table>`: 202 promises a job that ends and reports its true result. */
export function publishByUpload(world: World): Promise<void> {
  return withTable(
    world,
    () => true,
    async (table) => {
      const source = takeSource(world)
      table.possibleStamps.push(source.stamp)
      const response = await world.send(
        'PUT',
        `/v1/dataset/${table.table}?filename=${source.stamp}.${source.format}`,
        {
          key: world.promises.platformKey,
          file: fileOf(source),
          headers: { 'content-type': 'application/octet-stream' },
        },
      )
      const outcome = outcomeOf(response)
      if (outcome === 'refused') forgetStamp(table, source.stamp)
      if (outcome === 'acknowledged') {
        forgetStamp(table, source.stamp)
        table.job = { id: response.body.id, stamp: source.stamp, interruptions: 0 }
        await followJob(world, table, 5000)
      }
    },
  )
}

/** Publishes and waits for the job, for setup while nothing is interrupted. */
export async function publishAndWait(world: World): Promise<void> {
  await publishByUpload(world)
  for (const table of world.promises.tables) if (table.job) await followJob(world, table, 120_000)
}

/** Polls a job until it has ended or the time is up, and records the result of an ended job. */
export async function followJob(world: World, table: TablePromise, withinMs: number): Promise<void> {
  const job = table.job!
  const deadline = performance.now() + withinMs
  for (let wait = 20; performance.now() < deadline; wait = Math.min(wait * 2, 500)) {
    const { status, body } = await world.send('GET', `/v1/jobs/${job.id}`, {
      key: world.promises.platformKey,
    })
    if (status === 0) return
    const isKnown = status !== 404
    world.run.expect(isKnown, `a job that was told to the client exists`, `404 for the job of ${table.table}`)
    if (!isKnown) {
      table.possibleStamps.push(job.stamp)
      table.job = null
      return
    }
    if (body?.state === 'done') {
      table.job = null
      acknowledgeVersion(world, table, job.stamp, body.report.version)
      return
    }
    if (body?.state === 'failed') {
      table.job = null
      const isAbsent = !table.versions.some(({ stamp }) => stamp === job.stamp)
      world.run.expect(isAbsent, 'a job that failed has published nothing', `a version of ${table.table}`)
      world.run.expect(
        world.mayJobsFail || mayFail(job),
        'an upload that got 202 is published, although processes were killed meanwhile',
        `the job failed: ${body.problem?.detail}`,
      )
      return
    }
    await new Promise((resolve) => setTimeout(resolve, wait))
  }
}

export function describeTable(world: World): Promise<void> {
  return withTable(
    world,
    (table) => table.versions.length > 0,
    async (table) => {
      const description: Description = {
        title: `Title ${nextNumber(world.promises)}`,
        credits: world.run.random.integer(1, 5),
      }
      table.pendingDescription = description
      const response = await world.send('PATCH', `/v1/dataset/${table.table}`, {
        key: world.promises.platformKey,
        body: description,
      })
      const outcome = outcomeOf(response)
      if (outcome === 'unknown') return
      table.pendingDescription = null
      if (outcome === 'acknowledged') table.description = description
    },
  )
}

export function unpublishTable(world: World): Promise<void> {
  return withTable(
    world,
    (table) => table.versions.length > 2,
    async (table) => {
      table.pendingUnpublish = true
      const byCommand = world.run.random.chance(0.3)
      world.run.operations += byCommand ? 1 : 0
      const outcome = byCommand
        ? (await world.installation.command(['unpublish', table.table])).code === 0
          ? 'acknowledged'
          : 'unknown'
        : outcomeOf(
            await world.send('DELETE', `/v1/dataset/${table.table}`, { key: world.promises.platformKey }),
          )
      if (outcome === 'unknown') return
      table.pendingUnpublish = false
      if (outcome === 'acknowledged') forgetVersions(table)
    },
  )
}

export function forgetVersions(table: TablePromise): void {
  table.versions = []
  table.description = null
}

export function forgetStamp(table: TablePromise, stamp: string): void {
  table.possibleStamps = table.possibleStamps.filter((one) => one !== stamp)
}

export function acknowledgeVersion(world: World, table: TablePromise, stamp: string, version: number): void {
  forgetStamp(table, stamp)
  const twin = table.versions.find((one) => one.version === version || one.stamp === stamp)
  // A version may be visible before its job is polled.
  if (twin?.version === version && twin.stamp === stamp) return
  const holds = twin === undefined
  world.run.expect(holds, 'every publishing makes one version', `version ${version} of ${table.table} twice`)
  if (!holds) return
  table.versions.push({ version, stamp })
  table.versions.sort((a, b) => a.version - b.version)
}
