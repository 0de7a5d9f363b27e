import {
  MEMBER_PERMISSION_MEANINGS,
  MEMBER_PERMISSIONS,
  type MemberPermission,
} from '@wayleave/contract/permissions'

/** A member can grant only permissions that they have themselves. */
export function MemberPermissionsField({
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
          <span>
            {permission}
            <small>{MEMBER_PERMISSION_MEANINGS[permission]}</small>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

export function PermissionBadges({ permissions }: { permissions: readonly string[] }) {
  if (permissions.length === 0) return <span className="soft">None beyond reading</span>
  return (
    <span className="badges">
      {permissions.map((permission) => (
        <span key={permission} className="badge">
          {permission}
        </span>
      ))}
    </span>
  )
}
