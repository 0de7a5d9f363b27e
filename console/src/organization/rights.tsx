import {
  MEMBER_PERMISSION_MEANINGS,
  MEMBER_PERMISSION_NAMES,
  MEMBER_PERMISSIONS,
} from '@wayleave/contract/permissions'
import { PopUp } from '../components/form/pop-up.tsx'
import { Icon } from '../components/icon.tsx'
import { CUSTOM, rightsInWords, roleOf } from './roles.ts'

/** A role and what it is for, on one line; a click tells each permission. */
export function Rights({ permissions, of }: { permissions: readonly string[]; of: string }) {
  const role = roleOf(permissions)?.name ?? CUSTOM
  return (
    <PopUp
      className="rights"
      label={`${role}, ${rightsInWords(permissions)}: permissions of ${of}`}
      button={
        <>
          {role} <span className="soft">{rightsInWords(permissions)}</span>
        </>
      }
    >
      {() => (
        <ul className="permissions">
          {MEMBER_PERMISSIONS.map((permission) => {
            const isHeld = permissions.includes(permission)
            return (
              <li key={permission} className={isHeld ? undefined : 'missing'} title={permission}>
                {isHeld ? <Icon name="check" /> : <span aria-hidden="true">–</span>}
                <span>
                  {MEMBER_PERMISSION_NAMES[permission]}
                  {!isHeld && <span className="visually-hidden">: not permitted</span>}
                  {isHeld && <small>{MEMBER_PERMISSION_MEANINGS[permission]}</small>}
                </span>
              </li>
            )
          })}
        </ul>
      )}
    </PopUp>
  )
}
