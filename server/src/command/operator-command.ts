import { Command } from 'commander'

/** What every command of the operator takes. */
export interface OperatorFlags {
  json?: boolean
  dataDir?: string
}

/** A command with the flags they all have, and with examples in its help. */
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

/** One JSON document for programs, sentences for people. */
export function print({ json }: OperatorFlags, document: unknown, text: string): void {
  process.stdout.write(`${json ? JSON.stringify(document) : text}\n`)
}

/** Columns as wide as their widest cell; `none` where there is no row. */
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
