import { Field } from '../components/form/field.tsx'

/** A field in which the user has to type a text before something that cannot be undone. */
export function TypedConfirmation({ label, text }: { label: string; text: string }) {
  return (
    <Field label={label} help={<span className="mono">{text}</span>}>
      {(props) => (
        <input
          {...props}
          required
          autoComplete="off"
          spellCheck={false}
          pattern={text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')}
          title={text}
        />
      )}
    </Field>
  )
}
