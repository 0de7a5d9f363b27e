import { z } from 'zod'
import { RefusedCall } from '../own-api.ts'
import { table } from '../plain-text.ts'
import { defineTool, MAX_RESULT } from '../tool.ts'

const date = z.iso.date().optional()

export const myUsage = defineTool({
  name: 'my_usage',
  title: 'My usage',
  description:
    'What this key was used for, by operation and dataset, what it cost, and the credits that are left.',
  input: z.object({
    startDate: date.describe('The first day, in UTC. Without it, 30 days.'),
    endDate: date.describe('The last day. Without it, today.'),
  }),
  run: async ({ usage }, { startDate, endDate }) => {
    const dates = { ...(startDate && { startDate }), ...(endDate && { endDate }) }
    const report = await usage.report(dates)
    if (!report)
      throw new RefusedCall(401, 'key-missing', 'Usage is counted by key, and the request has none.')
    const balance = await usage.balance()
    const rows = report.operations.map((row) => [
      row.operation,
      row.table,
      row.format,
      row.calls,
      row.credits,
    ])
    const { totals } = report
    return [
      `${report.startDate} to ${report.endDate}: ${totals.calls} calls, ${totals.credits} credits.`,
      balance === null ? '' : `The balance is ${balance} credits.`,
      table(['operation', 'table', 'format', 'calls', 'credits'], rows, MAX_RESULT).text,
    ]
      .filter((line) => line !== '')
      .join('\n')
  },
})
