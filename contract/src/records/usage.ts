import { type Static, Type } from 'typebox'
import { nullable } from './schema-parts.ts'

const date = Type.String({ description: 'A calendar date in UTC, such as 2026-01-31.' })
const count = { calls: Type.Integer(), credits: Type.Integer() }

const usageCountSchema = Type.Object(count)

export type UsageCount = Static<typeof usageCountSchema>

const usage = {
  startDate: date,
  endDate: date,
  totals: usageCountSchema,
  days: Type.Array(Type.Object({ date, ...count }), { description: 'A row for each day of the range.' }),
  operations: Type.Array(
    Type.Object({
      operation: Type.String(),
      table: nullable(Type.String({ description: 'Null for calls without a dataset.' })),
      format: nullable(Type.String({ description: 'Null for calls without a choice of format.' })),
      ...count,
    }),
  ),
}

const usageReportSchema = Type.Object(usage)

/** Calls and credits over a range of days. */
export type UsageReport = Static<typeof usageReportSchema>

export const keyUsageSchema = Type.Object({ keyId: Type.String(), ...usage })

export type KeyUsage = Static<typeof keyUsageSchema>

export const organizationUsageSchema = Type.Object({
  organizationId: Type.String(),
  ...usage,
  keys: Type.Array(
    Type.Object({
      keyId: Type.String(),
      name: nullable(
        Type.String({
          description: 'If the key is deleted, its last name in the audit log; null if it is not there.',
        }),
      ),
      isDeleted: Type.Boolean(),
      ...count,
    }),
  ),
  members: Type.Array(
    Type.Object({
      userId: Type.String(),
      email: nullable(Type.String({ description: 'Null for a user who was deleted.' })),
      ...count,
    }),
    { description: 'Calls that users made in the console, without a key of their own.' },
  ),
  datasets: Type.Array(Type.Object({ table: Type.String(), ...count })),
})

/** The calls of datasets that an organization publishes, by all callers, and the credits that these paid. */
export const publishedUsageSchema = Type.Object({
  organizationId: Type.String(),
  ...usage,
  datasets: Type.Array(Type.Object({ table: Type.String(), ...count })),
})

export type PublishedUsage = Static<typeof publishedUsageSchema>

export type OrganizationUsage = Static<typeof organizationUsageSchema>
