import type { Command } from 'commander'
import { makeProgram } from './program.ts'

/** docs/command-line.md, made from the commands themselves; `npm run docs` writes it. */
export function commandLinePage(): string {
  const commands = makeProgram().commands.flatMap((command) => leavesOf(command, 'wayleave'))
  const rows = commands.map(
    ({ name, command }) => `| [\`${name}\`](#${anchorOf(name)}) | ${summaryOf(command)} |`,
  )
  return `# Command line

\`wayleave\` is the operator's tool, and the server is one of its commands. From the repository it is run as \`npx wayleave\`. Every command works beside a running server, except where it says otherwise; what it changes holds for the next request.

Every command exits with 0 on success, 1 on failure and 2 on wrong usage. With \`--json\` it prints one JSON document. Settings come from flags, then from \`WAYLEAVE_*\` variables, then from a file: see [Settings](settings.md).

| command | what it does |
|---|---|
${rows.join('\n')}

${commands.map(sectionOf).join('\n')}`
}

interface NamedCommand {
  name: string
  command: Command
}

/** The commands that can be run: groups such as `key` only hold others. */
function leavesOf(command: Command, before: string): NamedCommand[] {
  const name = `${before} ${command.name()}`
  if (command.commands.length === 0) return [{ name, command }]
  return command.commands.flatMap((child) => leavesOf(child, name))
}

function sectionOf({ name, command }: NamedCommand): string {
  const help = command.createHelp()
  const options = help
    .visibleOptions(command)
    .filter(({ long }) => long !== '--help')
    .map(
      (option) => `| \`${option.flags.replaceAll('|', '\\|')}\` | ${cell(help.optionDescription(option))} |`,
    )
  const examples = examplesOf(command)
  return `## ${name}

${command.description()}

\`\`\`
${name} ${command.usage()}
\`\`\`

| option | meaning |
|---|---|
${options.join('\n')}
${examples === '' ? '' : `\n\`\`\`sh\n${examples}\n\`\`\`\n`}`
}

/** The lines after "Examples:" in the command's help. */
function examplesOf(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 1000 }).outputHelp()
  const [, rest = ''] = text.split('\nExamples:\n')
  const [examples = ''] = rest.split('\n\n')
  return examples
    .trimEnd()
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
}

function summaryOf(command: Command): string {
  return cell(command.summary() || command.description().split('. ')[0]!)
}

function anchorOf(name: string): string {
  return name.replaceAll(' ', '-')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '\\<')
}
