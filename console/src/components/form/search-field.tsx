import { Field } from './field.tsx'

export function SearchField({
  search,
  onSearch,
  placeholder,
  maxLength,
}: {
  search: string
  onSearch: (search: string) => void
  placeholder: string
  maxLength?: number
}) {
  return (
    <Field label="Search">
      {(props) => (
        <input
          {...props}
          type="search"
          placeholder={placeholder}
          maxLength={maxLength}
          value={search}
          onChange={(event) => onSearch(event.target.value)}
        />
      )}
    </Field>
  )
}
