/**
 * `npm run conformance`: runs the abstract test suites of OGC API - Features against a service with demo
 * data, which it starts. `npm run conformance -- <root> [key]` tests another service, such as
 * `https://…/v1/ogc`. `npm run conformance -- --cql2 <folder>` evaluates the predicates of CQL2's annex A with
 * the standard's test dataset; the folder is `cql2/standard` of its repository, opengeospatial/ogcapi-features.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { readPredicates, TEST_DATASET, testPredicates } from './conformance/cql2-predicates.ts'
import { runSuite } from './conformance/run-suite.ts'
import { Api, type Outcome, Suite } from './conformance/suite.ts'
import { runProgram } from './run-program.ts'

const wayleave = join(import.meta.dirname, '..', 'server', 'bin', 'wayleave.js')
const [root, argument] = process.argv.slice(2)
if (root === '--cql2') {
  if (!argument) throw new Error('--cql2 needs the folder cql2/standard of opengeospatial/ogcapi-features')
  await withDemo((demo) => evaluatePredicates(demo, argument))
} else if (root) report(await runSuite(root, argument ?? null, tell))
else await withDemo(async ({ url, secret }) => report(await runSuite(`${url}/v1/ogc`, secret, tell)))

async function evaluatePredicates({ url, secret, folder }: Demo, standard: string): Promise<void> {
  const predicates = readPredicates(standard)
  for (const layer of new Set(predicates.map((predicate) => predicate.layer))) {
    const publish = ['publish', join(standard, TEST_DATASET), '--layer', layer, '--table', layer]
    await runProgram(process.execPath, [wayleave, ...publish, '--data-dir', folder])
  }
  const suite = new Suite(tell)
  await testPredicates(suite, new Api(`${url}/v1/ogc`, secret), predicates)
  report(suite.outcomes)
}

function tell({ test, subject, result, reason }: Outcome): void {
  console.log(`${result.padEnd(8)}${test}  ${subject}${reason ? `\n        ${reason}` : ''}`)
}

function report(outcomes: Outcome[]): void {
  const count = (result: Outcome['result']) => outcomes.filter((outcome) => outcome.result === result).length
  console.log(`\n${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`)
  if (count('failed') > 0) process.exitCode = 1
}

interface Demo {
  url: string
  secret: string
  /** The data folder. */
  folder: string
}

/** Starts a service on a free port, in a temporary folder; both end with this process. */
async function withDemo(use: (demo: Demo) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-conformance-'))
  const flags = ['serve', '--demo', '--json', '--port', '0', '--data-dir', folder]
  const env = { ...process.env, WAYLEAVE_KEY_RATE: '1000000', WAYLEAVE_LOG_LEVEL: 'silent' }
  const server = spawn(process.execPath, [wayleave, ...flags], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => server.once('exit', resolve))
  process.once('exit', () => server.kill())
  try {
    for await (const line of createInterface(server.stdout)) {
      if (line.startsWith('{"url"')) {
        await use({ ...(JSON.parse(line) as Omit<Demo, 'folder'>), folder })
        break
      }
    }
  } finally {
    server.kill()
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
}
