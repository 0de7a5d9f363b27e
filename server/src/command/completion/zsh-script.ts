import { type CompletedCommand, quoted } from './command-table.ts'

/** A completion script for zsh, with a description of each command and option. */
export function zshScript(commands: CompletedCommand[]): string {
  const paths = commands.filter(({ path }) => path !== '').map(({ path }) => quoted(path))
  return `#compdef wayleave
# Completion of wayleave for zsh. To use it: source <(wayleave completion zsh), after compinit.
_wayleave() {
  local command='' next index
  local -a commands options choices
  for ((index = 2; index < CURRENT; index++)); do
    next="\${command:+$command }\${words[index]}"
    case "$next" in
      (${paths.join('|')}) command=$next ;;
    esac
  done
  case "$command \${words[CURRENT-1]}" in
${commands.flatMap(valueCases).join('\n')}
  esac
  case "$command" in
${commands.map(commandCase).join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    _describe -o option options
  else
    (( $#commands )) && _describe command commands
    (( $#choices )) && compadd -a choices
    (( $#commands + $#choices )) || _files
  fi
}
if [[ \${funcstack[1]} == _wayleave ]]; then _wayleave "$@"; else compdef _wayleave wayleave; fi
`
}

function valueCases({ path, options }: CompletedCommand): string[] {
  return options
    .filter(({ takesValue }) => takesValue)
    .map(({ names, choices }) => {
      const words = names.map((name) => quoted(`${path} ${name}`)).join('|')
      const complete = choices.length > 0 ? `compadd ${choices.map(quoted).join(' ')}` : '_files'
      return `    (${words}) ${complete}; return ;;`
    })
}

function commandCase({ path, commands, options, choices }: CompletedCommand): string {
  const described = (names: string[], description: string) =>
    names.map((name) => quoted(`${name}:${description.replaceAll(':', '')}`))
  const commandList = commands.flatMap(({ name, description }) => described([name], description))
  const optionList = options.flatMap(({ names, description }) => described(names, description))
  return `    (${quoted(path)})
      commands=(${commandList.join(' ')})
      options=(${optionList.join(' ')})
      choices=(${choices.map(quoted).join(' ')}) ;;`
}
