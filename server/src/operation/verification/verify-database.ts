import type { ControlDatabase } from '../../base/database/open.ts'
import type { Finding } from './finding.ts'
import {
  brokenLedgers,
  datasetsWithoutVersion,
  jobsWithoutVersion,
  sqliteDamage,
  versionsAboveLastNumber,
  wrongBalances,
  wrongRefunds,
} from './verification-store.ts'
import { verifyOrders } from './verify-orders.ts'

/** Finds inconsistencies in the control database. */
export async function verifyDatabase(database: ControlDatabase): Promise<Finding[]> {
  const { db } = database
  const findings: Finding[] = []
  const add = (check: string, subject: string, message: string, remedy: string) =>
    findings.push({ severity: 'problem', check, subject, message, remedy })

  for (const message of await sqliteDamage(database)) {
    add('database', 'wayleave.db', message, 'Restore the newest backup: wayleave restore.')
  }
  for (const { id, credits, sum } of await wrongBalances(db)) {
    add(
      'ledger',
      id,
      `The organization has ${credits} credits, and its ledger adds up to ${sum}.`,
      'Compare the ledger with a backup. "wayleave org credits" sets the balance and writes the ledger row for it.',
    )
  }
  for (const { id, ledgerId, rows } of await brokenLedgers(db)) {
    add(
      'ledger',
      id,
      `${rows} rows of the organization’s ledger, the first with id ${ledgerId}, do not continue from the balance before.`,
      'Compare the ledger with a backup: rows were changed or removed by hand.',
    )
  }
  for (const { ledgerId, refunds } of await wrongRefunds(db)) {
    add(
      'ledger',
      `ledger row ${ledgerId}`,
      `The refund does not give back what ledger row ${refunds} took.`,
      'Compare the ledger with a backup.',
    )
  }
  for (const finding of await verifyOrders(db)) findings.push(finding)
  for (const { table, version } of await datasetsWithoutVersion(db)) {
    add(
      'catalog',
      table,
      `The dataset’s current version ${version} does not exist.`,
      `Publish ${table} again, or remove it with "wayleave unpublish ${table}".`,
    )
  }
  for (const { table, version } of await versionsAboveLastNumber(db)) {
    add(
      'catalog',
      table,
      `Version ${version} is above the last number that was given out for the dataset.`,
      'Restore a backup: the number would be given out again.',
    )
  }
  for (const { id, table, version } of await jobsWithoutVersion(db)) {
    add(
      'jobs',
      id,
      `The job says that it published ${table} as version ${version ?? '(none)'}, which never existed.`,
      `Publish ${table} again.`,
    )
  }
  return findings
}
