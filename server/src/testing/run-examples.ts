import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { testedProgram } from '../../../scripts/program/tested-program.ts'
import { operator } from '../base/events/events.ts'
import type { DocumentedExample } from './documented-examples.ts'
import { points } from './publish.ts'
import { nextMail } from './sign-in.ts'
import { type TestServer, temporaryFolder } from './test-server.ts'

const run = promisify(execFile)
const REPOSITORY = join(import.meta.dirname, '..', '..', '..')

/** The address in the examples of docs/, which each instance replaces by its own. */
export const EXAMPLE_URL = 'http://127.0.0.1:8080'

/** Programs as users have them: `curl` fails on an error, and DuckDB's command line is Python's DuckDB. */
const PROGRAMS = `
curl() { command curl --fail-with-body --silent --show-error "$@"; }
npx() { shift; "$NODE" "$PROGRAM" "$@"; }
duckdb() { "$PYTHON" -c 'import duckdb, sys; print(duckdb.execute(sys.argv[2]).fetchall())' "$@"; }
`

/** A service with the demo data. */
export interface Demo {
  service: TestServer
  key: string
  /** A Python with geopandas. */
  python: string
}

/** Runs examples in their order in one folder, which has a file parcels.gpkg as a user would. */
export async function runExamples(
  t: TestContext,
  { service, key, python }: Demo,
  examples: readonly DocumentedExample[],
): Promise<void> {
  const cwd = temporaryFolder(t)
  writeFileSync(join(cwd, 'parcels.geojson'), points(3))
  await run('ogr2ogr', ['parcels.gpkg', 'parcels.geojson'], { cwd })
  const newKey = { name: 'Pipeline', permissions: ['read', 'write'] }
  const { secret: platformKey } = await service.parts.keys.createPlatform(operator, newKey)
  const organization = await service.parts.administration.createOrganization(operator, 'Customer')
  const env = {
    ...process.env,
    NODE: process.execPath,
    PROGRAM: testedProgram(),
    PYTHON: python,
    PYTHONPATH: join(REPOSITORY, 'client-python', 'src'),
    WAYLEAVE_API_KEY: key,
    WAYLEAVE_BASE_URL: service.url,
    WAYLEAVE_DATA_DIR: service.config.dataDir,
    WAYLEAVE_TILES: 'false',
  }
  const execute = async (program: string, args: string[]) =>
    (await run(program, args, { cwd, env, maxBuffer: 1 << 28 })).stdout
  const shell = (script: string) => execute('bash', ['-euc', PROGRAMS + script])
  for (const { code, language } of examples) {
    const actual = code
      .replaceAll(EXAMPLE_URL, service.url)
      .replaceAll('YOUR_KEY', key)
      .replaceAll('YOUR_PLATFORM_KEY', platformKey)
      .replaceAll(/org_\w{20}/g, organization.id)
    if (language === 'python') await execute(python, ['-c', actual])
    else if (language === 'r') await execute('Rscript', ['-e', actual])
    else if (actual.includes('TOKEN_FROM_THE_LINK')) await signInByHand(actual, service, shell)
    else await shell(actual)
  }
}

/** Each command of this example needs a part of the response to the one before. */
async function signInByHand(
  example: string,
  service: TestServer,
  shell: (script: string) => Promise<string>,
): Promise<void> {
  const [ask, redeem, create] = example.split(/^(?=curl )/m)
  await shell(ask!)
  const { token } = await nextMail(service, 'you@example.org')
  const { accessToken } = JSON.parse(await shell(redeem!.replace('TOKEN_FROM_THE_LINK', token)))
  await shell(create!.replace('ACCESS_TOKEN', accessToken))
}
