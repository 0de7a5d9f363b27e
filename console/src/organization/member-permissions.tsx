import {
  MEMBER_PERMISSION_MEANINGS,
  MEMBER_PERMISSION_NAMES,
  MEMBER_PERMISSIONS,
  type MemberPermission,
} from '@wayleave/contract/permissions'
import { useId, useState } from 'react'
import { CUSTOM, ROLES, roleOf } from './roles.ts'

/** A role by its name, or single permissions. A member can grant only permissions that they have themselves. */
export function MemberPermissionsField({
  chosen,
  onChange,
  held,
}: {
  chosen: MemberPermission[]
  onChange: (permissions: MemberPermission[]) => void
  held: MemberPermission[]
}) {
  const group = useId()
  const [isCustom, setIsCustom] = useState(() => roleOf(chosen) === undefined)
  const current = isCustom ? CUSTOM : (roleOf(chosen)?.name ?? CUSTOM)
  const mayGrant = (permissions: readonly MemberPermission[]) =>
    permissions.every((permission) => held.includes(permission) || chosen.includes(permission))
  return (
    <>
      <fieldset>
        <legend>Role</legend>
        {ROLES.map(({ name, meaning, permissions }) => (
          <RoleChoice
            key={name}
            group={group}
            name={name}
            meaning={meaning}
            isChosen={current === name}
            isDisabled={!mayGrant(permissions)}
            onChoose={() => {
              setIsCustom(false)
              onChange([...permissions])
            }}
          />
        ))}
        <RoleChoice
          group={group}
          name={CUSTOM}
          meaning="Single permissions."
          isChosen={current === CUSTOM}
          isDisabled={false}
          onChoose={() => setIsCustom(true)}
        />
      </fieldset>
      {current === CUSTOM && <SinglePermissions chosen={chosen} onChange={onChange} held={held} />}
    </>
  )
}

function RoleChoice({
  group,
  name,
  meaning,
  isChosen,
  isDisabled,
  onChoose,
}: {
  group: string
  name: string
  meaning: string
  isChosen: boolean
  isDisabled: boolean
  onChoose: () => void
}) {
  return (
    <label className="choice">
      <input type="radio" name={group} checked={isChosen} disabled={isDisabled} onChange={onChoose} />
      <span>
        {name}
        <small>{meaning}</small>
      </span>
    </label>
  )
}

function SinglePermissions({
  chosen,
  onChange,
  held,
}: {
  chosen: MemberPermission[]
  onChange: (permissions: MemberPermission[]) => void
  held: MemberPermission[]
}) {
  const toggle = (permission: MemberPermission) =>
    onChange(
      chosen.includes(permission) ? chosen.filter((one) => one !== permission) : [...chosen, permission],
    )
  return (
    <fieldset>
      <legend>Permissions</legend>
      {MEMBER_PERMISSIONS.map((permission) => (
        <label key={permission} className="choice">
          <input
            type="checkbox"
            checked={chosen.includes(permission)}
            disabled={!held.includes(permission) && !chosen.includes(permission)}
            onChange={() => toggle(permission)}
          />
          <span title={permission}>
            {MEMBER_PERMISSION_NAMES[permission]}
            <small>{MEMBER_PERMISSION_MEANINGS[permission]}</small>
          </span>
        </label>
      ))}
    </fieldset>
  )
}
