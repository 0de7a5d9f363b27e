import { useId, useState } from 'react'
import type { Fix, FormChange } from './fixes.ts'

/** The ways out of a failure; each publishes again. */
export function FixList({ fixes, onFix }: { fixes: readonly Fix[]; onFix: (change: FormChange) => void }) {
  if (fixes.length === 0) return null
  return (
    <section className="stack-small fixes" aria-label="What you can do">
      <h3>What you can do</h3>
      {fixes.map((fix) =>
        fix.kind === 'button' ? (
          <div key={fix.label}>
            <button type="button" className="button" onClick={() => onFix(fix.change)}>
              {fix.label}
            </button>
          </div>
        ) : (
          <ChoiceFix key={fix.field} fix={fix} onFix={onFix} />
        ),
      )}
    </section>
  )
}

function ChoiceFix({
  fix: { label, field, options, isFree },
  onFix,
}: {
  fix: Extract<Fix, { kind: 'choice' }>
  onFix: (change: FormChange) => void
}) {
  const id = useId()
  const [value, setValue] = useState(isFree ? '' : (options[0] ?? ''))
  return (
    <div className="inline-form">
      <div className="field">
        <label htmlFor={id}>{label}</label>
        {isFree ? (
          <>
            <input
              id={id}
              list={`${id}-list`}
              value={value}
              placeholder={options[0]}
              onChange={(event) => setValue(event.target.value)}
            />
            <datalist id={`${id}-list`}>
              {options.map((option) => (
                <option key={option} value={option} />
              ))}
            </datalist>
          </>
        ) : (
          <select id={id} value={value} onChange={(event) => setValue(event.target.value)}>
            {options.map((option) => (
              <option key={option}>{option}</option>
            ))}
          </select>
        )}
      </div>
      <button
        type="button"
        className="button"
        disabled={value.trim() === ''}
        onClick={() => onFix({ reading: { [field]: value.trim() } })}
      >
        Publish with this {label === 'CRS' ? label : label.toLowerCase()}
      </button>
    </div>
  )
}
