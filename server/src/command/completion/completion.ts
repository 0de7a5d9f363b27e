import { Argument, Command } from 'commander'
import { type Candidate, candidates } from './candidates.ts'

/** A script asks the program what may stand at the cursor; if there is nothing, the shell completes file names. */
interface Shell {
  script: string
  line(candidate: Candidate): string
}

const SHELLS: Record<string, Shell> = {
  bash: {
    script: `_wayleave() {
  COMPREPLY=($(wayleave completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o bashdefault -o default -F _wayleave wayleave
`,
    line: ({ name }) => name,
  },
  zsh: {
    script: `#compdef wayleave
_wayleave() {
  local -a candidates
  candidates=("\${(@f)$(wayleave completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n $candidates[1] ]]; then _describe wayleave candidates; else _files; fi
}
if [[ \${funcstack[1]} == _wayleave ]]; then _wayleave "$@"; else compdef _wayleave wayleave; fi
`,
    line: ({ name, description }) => `${name}:${description.replaceAll(':', '')}`,
  },
  fish: {
    script: `function __wayleave_complete
  set -l current (commandline -ct)
  set -l candidates (wayleave completion fish -- (commandline -opc)[2..] "$current" 2>/dev/null)
  if test (count $candidates) -gt 0
    printf '%s\\n' $candidates
  else
    __fish_complete_path "$current"
  end
end
complete -c wayleave -f -a '(__wayleave_complete)'
`,
    line: ({ name, description }) => `${name}\t${description}`,
  },
}

/** Prints the script of a shell or, for that script, what may stand in place of the last word. */
export function completionCommand(): Command {
  return new Command('completion')
    .description('Print a script that completes commands and options in a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SHELLS)))
    .argument(
      '[words...]',
      'words of a command line after "--": print what the last one may be, as the script asks',
    )
    .addHelpText(
      'after',
      `
Examples:
  source <(wayleave completion bash)
  wayleave completion bash > ~/.local/share/bash-completion/completions/wayleave
  wayleave completion zsh > "\${fpath[1]}/_wayleave"
  wayleave completion fish > ~/.config/fish/completions/wayleave.fish`,
    )
    .action((name: string, words: string[], _flags: unknown, command: Command) => {
      const { script, line } = SHELLS[name]!
      if (words.length === 0) return void process.stdout.write(script)
      const lines = candidates(command.parent!, words).map((candidate) => `${line(candidate)}\n`)
      process.stdout.write(lines.join(''))
    })
}
