import type { Command, Option } from 'commander'

export interface Candidate {
  name: string
  description: string
}

/**
 * The commands, options and values that may stand in place of the last word of a command line, whose first word is the
 * one after the program's name. Empty if the word may be anything, such as a file.
 */
export function candidates(program: Command, words: readonly string[]): Candidate[] {
  let command = program
  let option: Option | undefined
  for (const word of words.slice(0, -1)) {
    const isValue = option !== undefined
    option = isValue ? undefined : command.options.find((each) => takesValue(each, word))
    if (!isValue) command = command.commands.find((each) => each.name() === word) ?? command
  }
  const start = words.at(-1) ?? ''
  return possible(command, option, start.startsWith('-')).filter(({ name }) => name.startsWith(start))
}

function possible(command: Command, option: Option | undefined, isOption: boolean): Candidate[] {
  if (option) return values(option.argChoices)
  if (isOption) {
    const help = { name: '--help', description: 'show help' }
    return [
      ...command.options.flatMap(({ short, long, description }) => named([short, long], description)),
      help,
    ]
  }
  return [
    ...command.commands.map((each) => ({
      name: each.name(),
      description: each.summary() || each.description(),
    })),
    ...command.registeredArguments.flatMap(({ argChoices }) => values(argChoices)),
  ]
}

function takesValue({ short, long, required, optional }: Option, word: string): boolean {
  return (short === word || long === word) && (required || optional)
}

function named(names: (string | undefined)[], description: string): Candidate[] {
  return names.filter((name) => name !== undefined).map((name) => ({ name, description }))
}

function values(choices: readonly string[] = []): Candidate[] {
  return choices.map((name) => ({ name, description: '' }))
}
