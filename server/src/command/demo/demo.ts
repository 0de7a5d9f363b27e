import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ADD_ONS } from '@wayleave/contract/add-ons'
import type { DemoDataset } from '@wayleave/demo/demo-datasets.ts'
import type { Parts } from '../../assembly/wiring.ts'
import { system } from '../../base/events/events.ts'

const ORGANIZATION = 'Demo'
const CREDITS = 1000
/** The demo organization's first member: signing in with this address shows what the demo key does. */
const DEMO_ADDRESS = 'demo@example.org'

export interface Demo {
  /** A key that can read everything, the same at every start. */
  secret: string
}

/** At the first start, publishes demo data and creates an organization with a key for it. */
export async function prepareDemo(parts: Parts, tell: (sentence: string) => void): Promise<Demo> {
  const { demoDatasets } = await import('@wayleave/demo/demo-datasets.ts')
  await publishDemoData(parts, demoDatasets, tell)
  return { secret: await demoSecret(parts) }
}

/**
 * Publishes the demo data in an installation without datasets. The folder of the source files exists until all
 * datasets are published, so that the start after an interrupted one publishes those that are missing.
 */
export async function publishDemoData(
  { catalog, publishing, config }: Pick<Parts, 'catalog' | 'publishing' | 'config'>,
  datasets: DemoDataset[],
  tell: (sentence: string) => void,
): Promise<void> {
  const folder = join(config.dataDir, 'demo-sources')
  const tables = new Set((await catalog.all()).map(({ table }) => table))
  if (tables.size > 0 && !existsSync(folder)) return
  tell('Publishing demo data, at the first start only')
  mkdirSync(folder, { recursive: true })
  for (const { table, file, write, idColumn, timeColumn, ...description } of datasets) {
    if (tables.has(table)) continue
    const path = join(folder, file)
    await write(path)
    const report = await publishing.publish({ table, path, idColumn, timeColumn, description }, system)
    tell(`  ${table}: ${report.rows.toLocaleString('en')} rows in ${report.seconds} s`)
  }
  rmSync(folder, { recursive: true, force: true })
}

/**
 * Secrets are never stored, except the demo's: it is in a file, so that copied commands keep working after a
 * restart.
 */
async function demoSecret({ administration, members, keys, config }: Parts): Promise<string> {
  const file = join(config.dataDir, 'demo-key')
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  const { id } = await administration.createOrganization(system, ORGANIZATION)
  await administration.setAddOns(system, id, () => ADD_ONS)
  await administration.setCredits(system, id, { set: CREDITS })
  const { userId } = await members.add(system, id, DEMO_ADDRESS)
  const newKey = { name: 'Demo key', permissions: ['read'] }
  const caller = { userId, organizationId: id, origin: system }
  const { secret } = await keys.createForOrganization(caller, id, newKey)
  writeFileSync(file, `${secret}\n`, { mode: 0o600 })
  return secret
}
