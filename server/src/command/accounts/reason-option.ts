import { InvalidArgumentError, Option } from 'commander'
import { isReason, MAX_REASON } from '../../accounts/administration/reason-rule.ts'

/** The required option `--reason`. */
export function reasonOption(): Option {
  return new Option('--reason <text>', 'why, for the operators (required)')
    .makeOptionMandatory()
    .argParser((text: string) => {
      if (!isReason(text)) throw new InvalidArgumentError(`It is one line of up to ${MAX_REASON} characters.`)
      return text
    })
}
