import { useDeferredValue, useId } from 'react'
import { useAdminOrganizations, useMe } from '../api/queries.ts'
import { Field } from '../components/form/field.tsx'

/** The id in what `OrganizationField` holds: an id, or a name with its id behind it. */
export function organizationIdIn(text: string): string {
  return /(org_\w+)\)?$/.exec(text.trim())?.[1] ?? text.trim()
}

/** An organization. An administrator types a part of its name and chooses; others do not see the organizations, and enter an id. */
export function OrganizationField({
  value,
  onChange,
  wrong,
}: {
  value: string
  onChange: (value: string) => void
  wrong: string | undefined
}) {
  const isAdministrator = useMe().data?.administrator ?? false
  const id = useId()
  return (
    <Field
      label="Organization"
      help={
        isAdministrator
          ? 'A part of its name to choose from, or its id.'
          : 'Its id, which its members see on their page “Access”.'
      }
      wrong={wrong}
    >
      {(props) => (
        <>
          <input
            {...props}
            required
            autoComplete="off"
            placeholder={isAdministrator ? 'Name' : 'org_…'}
            value={value}
            onChange={(event) => onChange(event.target.value)}
            {...(isAdministrator && { list: id })}
          />
          {isAdministrator && <Suggestions id={id} search={value} />}
        </>
      )}
    </Field>
  )
}

function Suggestions({ id, search }: { id: string; search: string }) {
  const isChosen = organizationIdIn(search) !== search.trim()
  const found = useAdminOrganizations(useDeferredValue(isChosen ? '' : search.trim()))
  const organizations = found.data?.pages[0]?.data ?? []
  return (
    <datalist id={id}>
      {organizations.map((organization) => (
        <option key={organization.id} value={`${organization.name} (${organization.id})`} />
      ))}
    </datalist>
  )
}
