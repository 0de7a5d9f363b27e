import { useId } from 'react'

/** A select with a label before it. */
export function ChoiceSelect({
  label,
  none,
  choices,
  value,
  isDisabled = false,
  words = {},
  onChange,
}: {
  label: string
  /** What the empty choice is called; without it there is none. */
  none?: string
  choices: readonly string[]
  value: string
  isDisabled?: boolean
  /** What choices are called, if not by themselves. */
  words?: Record<string, string>
  onChange: (choice: string) => void
}) {
  const id = useId()
  return (
    <span className="inline-select">
      <label htmlFor={id} className="small soft">
        {label}
      </label>
      <select
        id={id}
        value={choices.includes(value) ? value : ''}
        disabled={isDisabled}
        onChange={(event) => onChange(event.target.value)}
      >
        {none !== undefined && <option value="">{none}</option>}
        {choices.map((name) => (
          <option key={name} value={name}>
            {words[name] ?? name}
          </option>
        ))}
      </select>
    </span>
  )
}
