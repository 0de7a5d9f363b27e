import { Field } from './field.tsx'

export function SearchField({
  search,
  onSearch,
  placeholder,
}: {
  search: string
  onSearch: (search: string) => void
  placeholder: string
}) {
  return (
    <Field label="Search">
      {(props) => (
        <input
          {...props}
          type="search"
          placeholder={placeholder}
          value={search}
          onChange={(event) => onSearch(event.target.value)}
        />
      )}
    </Field>
  )
}
