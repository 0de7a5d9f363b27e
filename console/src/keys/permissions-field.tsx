import type { KeyPermission } from '@wayleave/contract/permissions'
import { useId } from 'react'
import { fieldErrorOf } from '../api/problem.ts'
import { useDatasets } from '../api/queries.ts'
import { permissionsOf, type Reach, type Reaches } from './key-permissions.ts'

/** The permissions of a key, and the datasets they cover. */
export function PermissionsField({
  reaches,
  onChange,
  withWrite,
  withAdmin,
  error,
}: {
  reaches: Reaches
  onChange: (reaches: Reaches) => void
  withWrite: boolean
  withAdmin: boolean
  /** The error of the last submit. */
  error: unknown
}) {
  const wrong = permissionsOf(reaches).length === 0 ? fieldErrorOf(error, '/permissions') : undefined
  const reach = (permission: KeyPermission, label: string, help: string) => (
    <ReachField
      label={label}
      help={help}
      reach={reaches[permission]}
      onChange={(reach) => onChange({ ...reaches, [permission]: reach })}
    />
  )
  return (
    <>
      {reach('read', 'Read', 'Maps, features and downloads.')}
      {withWrite && reach('write', 'Write', 'Publishing and describing datasets, with a platform key.')}
      {withAdmin && (
        <label className="choice">
          <input
            type="checkbox"
            checked={reaches.admin}
            onChange={() => onChange({ ...reaches, admin: !reaches.admin })}
          />
          Administer: create organizations, grant add-ons and credits, and all else under /v1/admin
        </label>
      )}
      {wrong && (
        <p className="wrong" role="alert">
          Choose at least one dataset to read{withWrite && ' or write'}.
        </p>
      )}
    </>
  )
}

function ReachField({
  label,
  help,
  reach,
  onChange,
}: {
  label: string
  help: string
  reach: Reach
  onChange: (reach: Reach) => void
}) {
  const id = useId()
  const { data: datasets = [] } = useDatasets()
  const chosen = Array.isArray(reach) ? reach : []
  const tables = new Set([...datasets.map(({ table }) => table), ...chosen])
  const toggle = (table: string) =>
    onChange(chosen.includes(table) ? chosen.filter((one) => one !== table) : [...chosen, table])
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        aria-describedby={`${id}-help`}
        value={Array.isArray(reach) ? 'some' : reach}
        onChange={({ target }) => onChange(target.value === 'some' ? [] : (target.value as Reach))}
      >
        <option value="all">All datasets, also those published later</option>
        <option value="some">Chosen datasets</option>
        <option value="none">No dataset</option>
      </select>
      <span className="help" id={`${id}-help`}>
        {help}
      </span>
      {Array.isArray(reach) && (
        <fieldset className="checks" aria-label={`Datasets to ${label.toLowerCase()}`}>
          {[...tables].map((table) => (
            <label key={table} className="choice">
              <input type="checkbox" checked={chosen.includes(table)} onChange={() => toggle(table)} />
              <code>{table}</code>
            </label>
          ))}
          {tables.size === 0 && <span className="soft small">No dataset is published yet.</span>}
        </fieldset>
      )}
    </div>
  )
}
