/**
 * `npm run conformance`: runs the abstract test suites of OGC API - Features against a service with demo
 * data, which it starts. `npm run conformance -- <root> [key]` tests another service, such as
 * `https://…/v1/ogc`.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { runSuite } from './conformance/run-suite.ts'
import type { Outcome } from './conformance/suite.ts'

const [root, key] = process.argv.slice(2)
if (root) await report(root, key ?? null)
else await withDemo(({ url, secret }) => report(`${url}/v1/ogc`, secret))

async function report(at: string, secret: string | null): Promise<void> {
  const outcomes = await runSuite(at, secret, ({ test, subject, result, reason }) => {
    console.log(`${result.padEnd(8)}${test}  ${subject}${reason ? `\n        ${reason}` : ''}`)
  })
  const count = (result: Outcome['result']) => outcomes.filter((outcome) => outcome.result === result).length
  console.log(`\n${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`)
  if (count('failed') > 0) process.exitCode = 1
}

/** Starts a service on a free port, in a temporary folder; both end with this process. */
async function withDemo(use: (demo: { url: string; secret: string }) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-conformance-'))
  const wayleave = join(import.meta.dirname, '..', 'server', 'bin', 'wayleave.js')
  const flags = ['serve', '--demo', '--json', '--port', '0', '--data-dir', folder]
  const env = { ...process.env, WAYLEAVE_KEY_RATE: '1000000', WAYLEAVE_LOG_LEVEL: 'silent' }
  const server = spawn(process.execPath, [wayleave, ...flags], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => server.once('exit', resolve))
  process.once('exit', () => server.kill())
  try {
    for await (const line of createInterface(server.stdout)) {
      if (line.startsWith('{"url"')) {
        await use(JSON.parse(line) as { url: string; secret: string })
        break
      }
    }
  } finally {
    server.kill()
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
}
