import { Command } from 'commander'
import { flagOf, readConfig, type Setting, settings, unknownVariables } from '../config.ts'
import { makeLogger } from '../http/logger.ts'
import { startService } from '../service.ts'

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

Every setting is a WAYLEAVE_… variable or a member of wayleave.json too; see docs/settings.md:
${Object.values(settings)
  .map((row) => `  ${row.variable.padEnd(36)}${row.help}`)
  .join('\n')}`,
  )
  return command.action(serve)
}

async function serve(flags: Record<string, unknown>): Promise<void> {
  const config = readConfig({ flags })
  const log = makeLogger(config.logLevel)
  for (const name of unknownVariables()) log.warn(`There is no setting ${name}; it is ignored.`)
  const service = await startService(config, log)

  const stop = (signal: string) => {
    log.info(`Stopping on ${signal}.`)
    service.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'The stop failed.')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', () => stop('SIGTERM'))
  process.on('SIGINT', () => stop('SIGINT'))

  if (flags['json']) process.stdout.write(`${JSON.stringify({ url: service.url })}\n`)
  else process.stdout.write(`Wayleave serves at ${service.url}\n`)
}
