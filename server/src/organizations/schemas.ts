import { Type } from 'typebox'
import { ADD_ONS } from '../keys/grant.ts'
import { MEMBER_PERMISSIONS } from './permissions.ts'

export const PermissionSchema = Type.Enum([...MEMBER_PERMISSIONS])
export const PermissionsSchema = Type.Array(PermissionSchema, { uniqueItems: true })
const Time = Type.String({ format: 'date-time' })

export const OrganizationSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  addOns: Type.Array(Type.Enum([...ADD_ONS])),
  credits: Type.Object({ balance: Type.Integer() }),
  permissions: Type.Array(PermissionSchema, { description: 'The caller’s own.' }),
  createdAt: Time,
})

export const MemberSchema = Type.Object({
  userId: Type.String(),
  email: Type.String(),
  permissions: Type.Array(PermissionSchema),
  joinedAt: Time,
})

export const InvitationSchema = Type.Object({
  id: Type.String(),
  email: Type.String(),
  permissions: Type.Array(PermissionSchema),
  invitedBy: Type.String({ description: 'The inviter’s user id.' }),
  createdAt: Time,
  expiresAt: Time,
})
