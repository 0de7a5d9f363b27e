import { type CompletedCommand, quoted } from './command-table.ts'

/** A completion script for fish, with a description of each command and option. */
export function fishScript(commands: CompletedCommand[]): string {
  const paths = commands.filter(({ path }) => path !== '').map(({ path }) => quoted(path))
  return `# Completion of wayleave for fish. To use it: wayleave completion fish | source
function __wayleave_command
  set -l command ''
  for word in (commandline -opc)[2..]
    set -l next (string trim -- "$command $word")
    if contains -- "$next" ${paths.join(' ')}
      set command $next
    end
  end
  test "$command" = "$argv[1]"
end
${commands.flatMap(lines).join('\n')}
`
}

function lines({ path, commands, options, choices }: CompletedCommand): string[] {
  const at = `complete -c wayleave -n ${quoted(`__wayleave_command "${path}"`)}`
  return [
    ...commands.map(({ name, description }) => `${at} -f -a ${quoted(name)} -d ${quoted(description)}`),
    ...choices.map((choice) => `${at} -f -a ${quoted(choice)}`),
    ...options.map((option) => {
      const names = option.names.map((name) =>
        name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
      )
      const value = option.takesValue ? ` -r${optionChoices(option.choices)}` : ''
      return `${at} ${names.join(' ')}${value} -d ${quoted(option.description)}`
    }),
  ]
}

function optionChoices(choices: readonly string[]): string {
  return choices.length > 0 ? ` -f -a ${quoted(choices.join(' '))}` : ''
}
