import { Type } from 'typebox'
import { ADD_ONS, type AddOn } from '../access/grant.ts'
import { MEMBER_PERMISSIONS, type MemberPermission } from '../access/permissions.ts'

const PermissionSchema = Type.Unsafe<MemberPermission>({ type: 'string', enum: [...MEMBER_PERMISSIONS] })
const AddOnSchema = Type.Unsafe<AddOn>({ type: 'string', enum: [...ADD_ONS] })
const Time = Type.String({ format: 'date-time' })

export const PermissionsSchema = Type.Array(PermissionSchema, { maxItems: 20 })
export const NameSchema = Type.String({ maxLength: 400, description: '1 to 100 characters.' })

export const OrganizationSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  addOns: Type.Array(AddOnSchema),
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
