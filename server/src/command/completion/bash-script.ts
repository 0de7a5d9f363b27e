import { type CompletedCommand, quoted } from './command-table.ts'

/**
 * A completion script for bash. It needs nothing but bash, and does not run the program: the whole command table is in
 * it. Where it offers nothing, as for values of options, bash completes file names.
 */
export function bashScript(commands: CompletedCommand[]): string {
  const paths = commands.filter(({ path }) => path !== '').map(({ path }) => quoted(path))
  return `# Completion of wayleave for bash. To use it: source <(wayleave completion bash)
_wayleave() {
  local word=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command='' next index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    next="\${command:+$command }\${COMP_WORDS[index]}"
    case "$next" in
      ${paths.join(' | ')}) command=$next ;;
    esac
  done
  case "$command $previous" in
${commands.flatMap(valueCases).join('\n')}
  esac
  local commands='' options='' values=''
  case "$command" in
${commands.map(commandCase).join('\n')}
  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  else
    COMPREPLY=($(compgen -W "$commands $values" -- "$word"))
  fi
}
complete -o bashdefault -o default -F _wayleave wayleave
`
}

/** The word after an option that takes a value is one of its choices or, as far as bash can tell, a file. */
function valueCases({ path, options }: CompletedCommand): string[] {
  return options
    .filter(({ takesValue }) => takesValue)
    .map(({ names, choices }) => {
      const words = names.map((name) => quoted(`${path} ${name}`)).join(' | ')
      return `    ${words}) COMPREPLY=($(compgen -W ${quoted(choices.join(' '))} -- "$word")); return ;;`
    })
}

function commandCase({ path, commands, options, choices }: CompletedCommand): string {
  const names = commands.map(({ name }) => name).join(' ')
  const flags = options.flatMap((option) => option.names).join(' ')
  return `    ${quoted(path)}) commands=${quoted(names)} options=${quoted(flags)} values=${quoted(choices.join(' '))} ;;`
}
