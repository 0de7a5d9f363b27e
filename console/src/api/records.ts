export type MemberPermission = 'APIKEY_VIEW' | 'APIKEY_CREATE' | 'MEMBER_MANAGE' | 'BILLING_VIEW'
export type AddOn = 'API_ACCESS' | 'GIS_ACCESS' | 'ARCHIVED_DATA'

export interface Organization {
  id: string
  name: string
  addOns: AddOn[]
  credits: { balance: number }
  permissions: MemberPermission[]
  createdAt: string
}

export interface Me {
  user: { id: string; email: string; createdAt: string }
  administrator: boolean
  organization: Organization | null
}

export interface KeyRecord {
  id: string
  name: string
  scope: 'user' | 'organization' | 'platform'
  permissions: string[]
  prefix: string
  status: 'active' | 'expired' | 'revoked'
  organizationId: string | null
  expiresAt: string | null
  createdAt: string
  rotatedAt: string | null
  revokedAt: string | null
  lastUsedAt: string | null
}

export interface NewKey {
  name: string
  permissions: string[]
  expiresAt: string | null
}

export interface CreatedKey {
  id: string
  name: string
  scope: KeyRecord['scope']
  permissions: string[]
  secret: string
  expiresAt: string | null
  createdAt: string
}

export interface Count {
  calls: number
  credits: number
}

export interface Usage {
  startDate: string
  endDate: string
  totals: Count
  days: (Count & { date: string })[]
  operations: (Count & { operation: string; table: string | null; format: string | null })[]
}

export interface OrganizationUsage extends Usage {
  keys: (Count & { keyId: string; name: string | null })[]
  datasets: (Count & { table: string })[]
}

export interface Member {
  userId: string
  email: string
  permissions: MemberPermission[]
  joinedAt: string
}

export interface Invitation {
  id: string
  email: string
  permissions: MemberPermission[]
  invitedBy: string
  createdAt: string
  expiresAt: string
}

export interface LedgerRow {
  id: number
  at: string
  kind: 'grant' | 'correction' | 'download' | 'refund'
  amount: number
  balance: number
  keyId: string | null
  table: string | null
  version: number | null
  format: string | null
  actor: string | null
}

export interface EventRow {
  id: number
  at: string
  actor: string
  action: string
  subject: string
  detail: Record<string, unknown>
  address: string | null
  requestId: string | null
}

export interface Page<T, N> {
  data: T[]
  next: N | null
}

export interface AdminOrganization {
  id: string
  name: string
  addOns: AddOn[]
  credits: { balance: number }
  members: number
  createdAt: string
}

export interface AdminUser {
  id: string
  email: string
  organizationId: string | null
  organizationName: string | null
  permissions: string[]
  createdAt: string
  lastSignInAt: string | null
}

export interface Job {
  id: string
  table: string
  state: 'waiting' | 'running' | 'done' | 'failed'
  progress: { phase: string; rows: number; bytesRead: number; totalBytes: number | null } | null
  report: PublishReport | null
  problem: { detail: string; problems?: RowProblem[]; problemCount?: number } | null
}

export interface RowProblem {
  row: number
  message: string
}

export interface PublishReport {
  table: string
  version: number
  file: string
  format: string
  rows: number
  skipped: number
  problems: RowProblem[]
  geometryType: string | null
  geometryTypes: string[]
  crs: string | null
  crsTransformation: { name: string; accuracy: number | null } | null
  columns: { name: string; type: string }[]
  notes: string[]
  seconds: number
}
