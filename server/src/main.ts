import { Command, CommanderError } from 'commander'
import { adoptFolderCommand } from './command/adopt-folder.ts'
import { backupCommand } from './command/backup.ts'
import { databaseCommand } from './command/database.ts'
import { datasetsCommand, unpublishCommand } from './command/datasets.ts'
import { doctorCommand } from './command/doctor.ts'
import { gcCommand } from './command/gc.ts'
import { keyCommand } from './command/key.ts'
import { orgCommand } from './command/org.ts'
import { pruneCommand } from './command/prune.ts'
import { publishCommand } from './command/publish.ts'
import { restoreCommand } from './command/restore.ts'
import { rotateSigningKeyCommand } from './command/rotate-signing-key.ts'
import { serveCommand } from './command/serve.ts'
import { tilesCommand } from './command/tiles.ts'
import { userCommand } from './command/user.ts'
import { verifyCommand } from './command/verify.ts'
import { SettingError } from './config.ts'
import { Problem } from './problem.ts'
import { version } from './version.ts'

// Every file and folder that the program or a library creates is private to its owner.
process.umask(0o077)

/** The command line: the operator's commands, and the server as one of them. */
const program = new Command('wayleave')
  .description('Publishes geospatial and tabular datasets and grants keys to them.')
  .version(version)
  .showHelpAfterError('(see --help)')
  .exitOverride()
  .configureHelp({ sortSubcommands: false })

for (const command of [
  serveCommand(),
  publishCommand(),
  datasetsCommand(),
  unpublishCommand(),
  gcCommand(),
  tilesCommand(),
  adoptFolderCommand(),
  orgCommand(),
  keyCommand(),
  userCommand(),
  rotateSigningKeyCommand(),
  backupCommand(),
  restoreCommand(),
  verifyCommand(),
  doctorCommand(),
  pruneCommand(),
  databaseCommand(),
]) {
  program.addCommand(command)
}
inheritSettings(program)

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = reportFailure(error)
}

/** Exit codes: 2 for wrong usage, 1 for any other failure; the message goes to standard error. */
function reportFailure(error: unknown): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0
  const message = error instanceof Problem ? error.detail.replace(/^\//, '') : (error as Error).message
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ error: message })}\n`)
  if (error instanceof CommanderError) return 2
  process.stderr.write(`wayleave: ${message}\n`)
  const wrongUsage = error instanceof Problem ? error.status === 400 : error instanceof SettingError
  return wrongUsage ? 2 : 1
}

/** Commands that are created separately do not inherit the program's exit and help settings by themselves. */
function inheritSettings(command: Command): void {
  for (const child of command.commands) inheritSettings(child.copyInheritedSettings(command))
}
