import { resolve } from 'node:path'
import { Command } from 'commander'
import type { RunningServer } from '../assembly/start-server.ts'
import { SECOND, systemClock } from '../base/clock.ts'
import {
  type Config,
  flagOf,
  isStartedByNpm,
  isTracingWanted,
  readConfig,
  unknownVariables,
} from '../base/settings/config.ts'
import type { Setting } from '../base/settings/setting.ts'
import { settings } from '../base/settings/settings.ts'
import { startTracing } from '../base/tracing/start-tracing.ts'
import type { Demo } from './demo/demo.ts'
import { watchParents } from './parent-processes.ts'

/** Max duration of a stop: requests under way, their refunds, then closing all parts, of other threads first. */
const STOP_DEADLINE = 55 * SECOND

export function serveCommand(): Command {
  const command = new Command('serve')
    .description('Start the service.')
    .option('--demo', 'publish demo data at the first start and show how to sign in')
    .option('--json', 'print one JSON document when the service is up')
  for (const [name, row] of Object.entries(settings) as [string, Setting<unknown>][]) {
    if (row.flag)
      command.option(`${flagOf(name)} <value>`, `${row.help} (${row.variable}, default ${row.default})`)
  }
  command.addHelpText(
    'after',
    `
Examples:
  wayleave serve --demo
  wayleave serve --port 80 --host 0.0.0.0 --data-dir ./data
  wayleave serve --role worker --port 8081

Every setting is a WAYLEAVE_… variable or a member of wayleave.json too; see docs/settings.md:
${Object.values(settings)
  .map((row) => `  ${row.variable.padEnd(36)}${row.help}`)
  .join('\n')}`,
  )
  return command.action(serve)
}

async function serve(flags: Record<string, unknown>): Promise<void> {
  const { makeLogger } = await import('../http/observability/logger.ts')
  const { startServer } = await import('../assembly/start-server.ts')
  const { servingThreads } = await import('../base/threads/thread-place.ts')
  const { prepareDemo } = await import('./demo/demo.ts')
  const config = readConfig({ flags })
  const base = servingThreads(config) > 1 ? { thread: 1 } : undefined
  const log = makeLogger(config.logLevel, undefined, config.logFormat, base)
  for (const name of unknownVariables()) log.warn(`There is no setting ${name}; it is ignored.`)
  const stopTracing = isTracingWanted() ? await startTracing(log) : () => {}
  let demo: Demo | undefined
  let service: RunningServer | undefined
  let shortestDrain = Number.POSITIVE_INFINITY
  const stop = (reason: string, drainSeconds: number) => {
    // Nothing is served yet, and the next start cleans up after an interrupted one.
    if (!service) process.exit(1)
    // A stop that is under way can only be shortened. Ctrl+C may come twice: from the terminal and from npm.
    if (drainSeconds >= shortestDrain) return
    shortestDrain = drainSeconds
    log.info(`Stopping: ${reason}.`)
    // Every step of a stop has its own timeout; this one guards against a bug in those.
    setTimeout(
      () => {
        log.error(`The stop took longer than ${STOP_DEADLINE / SECOND} seconds: the process ends.`)
        process.exit(1)
      },
      STOP_DEADLINE + drainSeconds * SECOND,
    ).unref()
    const stopped = service.stop(drainSeconds * SECOND).finally(stopTracing)
    stopped.then(
      () => process.exit(0),
      (error: unknown) => {
        log.error(`The stop was not complete. ${(error as Error).message}`)
        process.exit(1)
      },
    )
  }
  // The process that started the server waits for its port and data folder: there is no time for a drain.
  watchParents(isStartedByNpm(), () => stop('the process that started the server has ended', 0))
  service = await startServer(config, log, systemClock, async (parts) => {
    if (config.demo) demo = await prepareDemo(parts, (sentence) => process.stderr.write(`${sentence}\n`))
  })
  process.on('SIGTERM', () => stop('SIGTERM', config.drainSeconds))
  // Sent by hand from a terminal, or when the terminal is closed.
  process.on('SIGINT', () => stop('SIGINT', 0))
  process.on('SIGHUP', () => stop('SIGHUP', 0))

  if (flags['json']) process.stdout.write(`${JSON.stringify({ url: service.url, ...demo })}\n`)
  else process.stdout.write(welcome(service.url, config, demo))
}

function welcome(url: string, config: Config, demo: Demo | undefined): string {
  if (config.role === 'worker') return `Wayleave runs jobs; its health is at ${url}/health\n`
  if (!demo) return `Wayleave serves at ${url}\n`
  const program = isStartedByNpm() ? 'npx wayleave' : 'wayleave'
  const folder = config.dataDir === resolve(settings.dataDir.default) ? '' : ` --data-dir '${config.dataDir}'`
  const administrator = config.admins[0]
  const lines = [
    ['Open', url],
    ['Sign in', 'with any mail address: the link appears on the page and here'],
    ...(administrator ? [['Manage', `sign in as ${administrator}`]] : []),
    ['Demo key', demo.secret],
    [
      'Try',
      `curl -H 'X-API-Key: ${demo.secret}' '${url}/v1/ogc/collections/places/items?bbox=4.7,52.2,5.2,52.5&limit=3'`,
    ],
    ['Publish', `${program} publish your-file.geojson --table your_table${folder}`],
    ['Stop', 'Ctrl+C'],
  ]
  return `
Wayleave serves at ${url}

${lines.map(([name, text]) => `  ${name!.padEnd(13)}${text}`).join('\n')}

`
}
