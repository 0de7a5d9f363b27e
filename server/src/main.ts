import { Command, CommanderError } from 'commander'
import { serveCommand } from './command/serve.ts'
import { SettingError } from './config.ts'
import { version } from './version.ts'

/** The command line: the operator's tool, and the server itself as one of its commands. */
const program = new Command('wayleave')
  .description('Publishes geospatial and tabular datasets and grants keys to them.')
  .version(version)
  .showHelpAfterError('(see --help)')
  .exitOverride()
  .configureHelp({ sortSubcommands: false })

for (const command of [serveCommand()]) program.addCommand(command)

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = reportFailure(error)
}

/** 2 is wrong usage, 1 is anything else that failed; the sentence goes to standard error. */
function reportFailure(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  const message = (error as Error).message
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ error: message })}\n`)
  process.stderr.write(`wayleave: ${message}\n`)
  return error instanceof SettingError ? 2 : 1
}
