import { Command } from 'commander'

/** Flags that every operator command accepts. */
export interface OperatorFlags {
  json?: boolean
  dataDir?: string
}

/** Creates a command with the shared flags, and with examples in its help. */
export function operatorCommand(nameAndArguments: string, description: string, examples: string[]): Command {
  const [name = '', ...rest] = nameAndArguments.split(' ')
  const command = new Command(name)
    .description(description)
    .summary(description.split('. ')[0]!)
    .option('--json', 'print one JSON document')
    .option('--data-dir <folder>', 'the folder of the service (WAYLEAVE_DATA_DIR)')
    .addHelpText('after', `\nExamples:\n${examples.map((example) => `  wayleave ${example}`).join('\n')}`)
  if (rest.length > 0) command.arguments(rest.join(' '))
  return command
}

/** Prints one JSON document for programs with `--json`, otherwise text for people. */
export function print({ json }: OperatorFlags, document: unknown, text: string): void {
  process.stdout.write(`${json ? JSON.stringify(document) : text}\n`)
}

/** How a new secret is printed. */
export function secretText(secret: string): string {
  return `Its secret is shown this once:\n${secret}`
}

/** Pads each column to its widest cell; returns `none` if there are no rows. */
export function tableText(head: string[], rows: string[][], none: string): string {
  if (rows.length === 0) return none
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]!.length)),
  )
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
