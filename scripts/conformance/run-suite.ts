import { coreTests } from './core-tests.ts'
import { crsTests } from './crs-tests.ts'
import { itemsTests } from './items-tests.ts'
import { recordsTests } from './records-tests.ts'
import { Api, type Outcome, Suite } from './suite.ts'
import { tilesTests } from './tiles-tests.ts'

/** Runs the abstract test suites of OGC API - Features, Parts 1 and 2, of OGC API - Tiles and of OGC API - Records against the service at this root. */
export async function runSuite(
  root: string,
  key: string | null,
  tell?: (outcome: Outcome) => void,
): Promise<Outcome[]> {
  const suite = new Suite(tell)
  const api = new Api(root, key)
  const resources = await coreTests(suite, api)
  await itemsTests(suite, api, resources)
  await crsTests(suite, api, resources)
  await tilesTests(suite, api, resources.collections)
  // The catalogue is beside the root of the features and needs no key.
  await recordsTests(suite, new Api(root.replace(/\/ogc\/?$/, '/records'), null))
  return suite.outcomes
}
