import type { MemberPermission } from '../api/records.ts'

const meanings: Record<MemberPermission, string> = {
  APIKEY_VIEW: 'See the organization’s keys and their usage.',
  APIKEY_CREATE: 'Create, change, rotate, revoke and delete the organization’s keys.',
  MEMBER_MANAGE: 'Invite, change and remove members, rename the organization, see events.',
  BILLING_VIEW: 'See credits, the ledger and the usage of all keys.',
}

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
      {(Object.keys(meanings) as MemberPermission[]).map((permission) => (
        <label key={permission} className="choice">
          <input
            type="checkbox"
            checked={chosen.includes(permission)}
            disabled={!held.includes(permission) && !chosen.includes(permission)}
            onChange={() => toggle(permission)}
          />
          <span>
            {permission}
            <small>{meanings[permission]}</small>
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
