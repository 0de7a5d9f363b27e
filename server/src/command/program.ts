import { Command, CommanderError } from 'commander'
import type { DataWork } from '../base/data-work.ts'
import { Problem } from '../base/problem.ts'
import { redactPasswords } from '../base/redact.ts'
import { SettingError } from '../base/settings/config.ts'
import { version } from '../base/version.ts'
import type { PublishOptions } from '../data/publishing/publish-request.ts'
import { addressCommand } from './accounts/address.ts'
import { eventsCommand } from './accounts/events.ts'
import { keyCommand } from './accounts/key.ts'
import { orderCommand } from './accounts/order.ts'
import { orgCommand } from './accounts/org.ts'
import { productCommand } from './accounts/product.ts'
import { userCommand } from './accounts/user.ts'
import { webhookCommand } from './accounts/webhook.ts'
import { completionCommand } from './completion/completion.ts'
import { datasetsCommand, unpublishCommand } from './datasets/datasets.ts'
import { describeCommand } from './datasets/describe.ts'
import { grantCommand } from './datasets/grant.ts'
import { inspectCommand } from './datasets/inspect.ts'
import { jobCommand } from './datasets/job.ts'
import { publishCommand } from './datasets/publish.ts'
import { schemaCommand } from './datasets/schema.ts'
import { sourceCommand } from './datasets/source.ts'
import { tilesCommand } from './datasets/tiles.ts'
import { releaseCommand, rollbackCommand, versionsCommand } from './datasets/versions.ts'
import { InterruptedError } from './interruptible.ts'
import { adoptFolderCommand } from './operate/adopt-folder.ts'
import { backupCommand } from './operate/backup.ts'
import { databaseCommand } from './operate/database.ts'
import { doctorCommand } from './operate/doctor.ts'
import { gcCommand } from './operate/gc.ts'
import { pruneCommand } from './operate/prune.ts'
import { restoreCommand } from './operate/restore.ts'
import { rotateSigningKeyCommand } from './operate/rotate-signing-key.ts'
import { storageCommand } from './operate/storage.ts'
import { verifyCommand } from './operate/verify.ts'
import { serveCommand } from './serve.ts'

export interface ProgramOptions {
  /** Replaces the compilation in a child process, which is the default. */
  compile?: PublishOptions['compile']
  /** The same for inspecting. */
  inspect?: DataWork['inspect']
}

/** The commands by their names, in the order of the help. */
function commandTable({ inspect, compile }: ProgramOptions): Record<string, () => Command> {
  return {
    serve: serveCommand,
    inspect: () => inspectCommand(inspect),
    publish: () => publishCommand(compile),
    schema: schemaCommand,
    release: releaseCommand,
    versions: versionsCommand,
    rollback: rollbackCommand,
    datasets: datasetsCommand,
    describe: describeCommand,
    grant: grantCommand,
    unpublish: unpublishCommand,
    job: jobCommand,
    source: () => sourceCommand(compile),
    gc: gcCommand,
    tiles: tilesCommand,
    'adopt-folder': adoptFolderCommand,
    org: orgCommand,
    product: productCommand,
    order: orderCommand,
    key: keyCommand,
    user: userCommand,
    webhook: webhookCommand,
    address: addressCommand,
    events: eventsCommand,
    'rotate-signing-key': rotateSigningKeyCommand,
    backup: backupCommand,
    restore: restoreCommand,
    verify: verifyCommand,
    doctor: doctorCommand,
    prune: pruneCommand,
    database: databaseCommand,
    completion: completionCommand,
    storage: storageCommand,
  }
}

/** The commands that need to know all others. */
const KNOWS_ALL = ['completion']

/**
 * The program with all commands. If `name` is the name of one, with that one alone: making all of them takes a
 * twentieth of the time that a server needs to start.
 */
export function makeProgram(options: ProgramOptions = {}, name?: string): Command {
  const program = new Command('wayleave')
    .description('Publishes geospatial and tabular datasets and grants keys to them.')
    .version(version)
    // Otherwise `--version` of a command, such as `tiles`, would be taken as the program's.
    .enablePositionalOptions()
    .showHelpAfterError('(see --help)')
    .exitOverride()
    .configureHelp({ sortSubcommands: false })
    .configureOutput({ outputError: (text, write) => write(redactPasswords(text)) })
  const commands = commandTable(options)
  const isOne = name !== undefined && Object.hasOwn(commands, name) && !KNOWS_ALL.includes(name)
  for (const make of isOne ? [commands[name]!] : Object.values(commands)) program.addCommand(make())
  inheritSettings(program)
  return program
}

/**
 * Runs one command line, without the program's name, and returns the exit code: the operator's commands, and
 * the server as one of them.
 */
export async function runProgram(args: string[], options: ProgramOptions = {}): Promise<number> {
  const program = makeProgram(options, args[0])
  try {
    await program.parseAsync(args, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    return reportFailure(error, args)
  }
}

/** Exit codes: 2 for wrong usage, 1 for any other failure; the message goes to standard error. */
function reportFailure(error: unknown, args: string[]): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0
  const message = redactPasswords(
    error instanceof Problem ? error.detail.replace(/^\//, '') : (error as Error).message,
  )
  if (args.includes('--json')) {
    process.stdout.write(`${JSON.stringify({ error: message.replace(/^error: /, '') })}\n`)
  }
  if (error instanceof CommanderError) return 2
  process.stderr.write(`wayleave: ${message}\n`)
  if (error instanceof InterruptedError) return error.exitCode
  const wrongUsage = error instanceof Problem ? error.status === 400 : error instanceof SettingError
  return wrongUsage ? 2 : 1
}

/** Commands that are created separately do not inherit the program's exit and help settings by themselves. */
function inheritSettings(command: Command): void {
  for (const child of command.commands) inheritSettings(child.copyInheritedSettings(command))
}
