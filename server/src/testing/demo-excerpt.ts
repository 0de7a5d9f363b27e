import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { demoData } from '@wayleave/demo/demo-data.ts'
import { demoDatasets, placesRows } from '@wayleave/demo/demo-datasets.ts'
import { system } from '../base/events/events.ts'
import { type TestServer, temporaryFolder } from './test-server.ts'

/** By how much the excerpt is smaller than the demo data. */
export const EXCERPT_STEP = 4

/** The places of the documented examples are published whole. */
const isDocumented = ({ country, name }: Record<string, string>) =>
  country === 'NL' || /z[uü]rich/i.test(name!)

/**
 * Publishes the demo data with a quarter of the two large datasets: still several pages of the largest size, so
 * that reading them whole proves the same and takes a quarter of the time.
 */
export async function publishDemoExcerpt(t: TestContext, { parts }: TestServer): Promise<void> {
  const folder = temporaryFolder(t)
  for (const { table, file, write, idColumn, timeColumn, ...description } of demoDatasets) {
    const path = join(folder, file)
    const excerpt = EXCERPTS[table]
    await (excerpt ? writeFile(path, excerpt()) : write(path))
    await parts.publishing.publish({ table, path, idColumn, timeColumn, description }, system)
  }
}

const EXCERPTS: Record<string, () => string> = {
  places: () =>
    JSON.stringify(placesRows().filter((place, i) => i % EXCERPT_STEP === 0 || isDocumented(place))),
  // The first line has the names of the columns.
  townships: () =>
    demoData('townships.csv')
      .toString()
      .split('\n')
      .filter((_, i) => i % EXCERPT_STEP === 0)
      .join('\n'),
}
