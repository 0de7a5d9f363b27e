import { type Static, Type } from 'typebox'
import { nullable } from './schema-parts.ts'

const count = Type.Integer({ minimum: 0 })

const dayRow = Type.Object({ date: Type.String(), calls: count, credits: Type.Integer() })

export const dashboardSchema = Type.Object({
  days: Type.Array(dayRow, {
    description: 'Calls and credits of all organizations and platform keys, a row for each of 30 days.',
  }),
  daysBefore: Type.Array(dayRow, { description: 'The same of the 30 days before, to compare with.' }),
  datasets: Type.Array(
    Type.Object({
      table: Type.String(),
      title: nullable(Type.String()),
      calls: count,
      credits: Type.Integer(),
    }),
    { description: 'The ten datasets with the most calls.' },
  ),
  organizations: Type.Array(
    Type.Object({
      organizationId: Type.String(),
      name: nullable(Type.String()),
      calls: count,
      credits: Type.Integer(),
    }),
    { description: 'The ten organizations with the most calls.' },
  ),
  responses: Type.Object(
    {
      since: Type.String({ format: 'date-time' }),
      total: count,
      clientErrors: Type.Integer({ description: 'Status 400 to 499.' }),
      serverErrors: Type.Integer({ description: 'Status 500 and above.' }),
      failingRoutes: Type.Array(Type.Object({ route: Type.String(), count })),
    },
    { description: 'Counts of the server that responds, since its start.' },
  ),
  jobs: Type.Object({ waiting: count, running: count, done: count, failed: count, cancelled: count }),
  storage: Type.Object({
    datasets: count,
    versions: count,
    bytes: Type.Integer({ description: 'Bytes of the current versions, without exports and tiles.' }),
    freeBytes: Type.Integer({ description: 'Free space on the disk of the data folder.' }),
  }),
  accounts: Type.Object({ organizations: count, users: count, keys: count }),
  openRequests: count,
})

/** The state of the whole service, for platform administrators. */
export type Dashboard = Static<typeof dashboardSchema>
