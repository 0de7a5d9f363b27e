import { Argument, Command } from 'commander'
import { bashScript } from './bash-script.ts'
import { type CompletedCommand, commandTable } from './command-table.ts'
import { fishScript } from './fish-script.ts'
import { zshScript } from './zsh-script.ts'

const SCRIPTS: Record<string, (commands: CompletedCommand[]) => string> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

/** Prints a script that makes a shell complete commands and options, made from the table of commands itself. */
export function completionCommand(): Command {
  return new Command('completion')
    .description('Print a script that completes commands and options in a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .addHelpText(
      'after',
      `
Examples:
  source <(wayleave completion bash)
  wayleave completion bash > ~/.local/share/bash-completion/completions/wayleave
  wayleave completion zsh > "\${fpath[1]}/_wayleave"
  wayleave completion fish > ~/.config/fish/completions/wayleave.fish`,
    )
    .action((shell: string, _flags: unknown, command: Command) => {
      process.stdout.write(SCRIPTS[shell]!(commandTable(command.parent!)))
    })
}
