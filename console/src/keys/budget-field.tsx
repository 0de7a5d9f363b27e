import { fieldErrorOf } from '../api/problem.ts'
import { NumberField } from '../components/form/number-field.tsx'

/** What a key may spend in a month, as the text of its input. */
export function BudgetField({
  budget,
  onChange,
  error,
}: {
  budget: string
  onChange: (budget: string) => void
  error: unknown
}) {
  return (
    <NumberField
      label="Credits a month"
      value={budget}
      onChange={onChange}
      help="Downloads beyond it are refused. Empty: no limit."
      wrong={fieldErrorOf(error, '/creditLimit')}
      max={1_000_000_000_000}
      isOptional
    />
  )
}
