import type { Command } from 'commander'

export interface CompletedOption {
  /** Such as `--table` and `-h`. */
  names: string[]
  takesValue: boolean
  choices: readonly string[]
  description: string
}

/** What can follow a command on the command line. */
export interface CompletedCommand {
  /** The words that lead to it, such as `org create`; empty for the program itself. */
  path: string
  commands: { name: string; description: string }[]
  options: CompletedOption[]
  /** The values that its arguments may have, if the program lists them. */
  choices: string[]
}

/** All commands of a program and what each accepts, parents first. */
export function commandTable(command: Command, path = ''): CompletedCommand[] {
  const subcommands = command.commands.filter((child) => child.name() !== 'help')
  const row: CompletedCommand = {
    path,
    commands: subcommands.map((child) => ({ name: child.name(), description: summaryOf(child) })),
    options: [
      ...command.options.map((option) => ({
        names: [option.short, option.long].filter((name) => name !== undefined),
        takesValue: option.required || option.optional,
        choices: option.argChoices ?? [],
        description: option.description,
      })),
      { names: ['-h', '--help'], takesValue: false, choices: [], description: 'show help' },
    ],
    choices: command.registeredArguments.flatMap((argument) => argument.argChoices ?? []),
  }
  return [row, ...subcommands.flatMap((child) => commandTable(child, `${path} ${child.name()}`.trim()))]
}

function summaryOf(command: Command): string {
  return command.summary() || command.description()
}

/** A text in single quotes, for bash, zsh and fish alike as long as it contains no backslash. */
export function quoted(text: string): string {
  return `'${text.replaceAll('\\', '').replaceAll("'", '’')}'`
}
