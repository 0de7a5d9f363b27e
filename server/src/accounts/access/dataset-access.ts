import type { AddOn } from '@wayleave/contract/add-ons'
import type { DatasetAccess, Visibility } from '@wayleave/contract/visibilities'
import type { Clock } from '../../base/clock.ts'
import { Problem } from '../../base/problem.ts'
import {
  type DatasetGrant,
  type Grant,
  mayUse,
  requireAddOn,
  requireNoTest,
  requirePermission,
} from './grant.ts'

/**
 * The one place that decides who may know of a dataset, who may read it, and what they pay. `caller` is the grant
 * of a key; null for a request without a key.
 */

/** What these rules need of a dataset. */
export interface AccessedDataset {
  table: string
  visibility: Visibility
  owner: { organizationId: string } | null
  credits: number
}

const ADD_ON_OF: Record<DatasetAccess, AddOn> = {
  features: 'GIS_ACCESS',
  tiles: 'GIS_ACCESS',
  downloads: 'API_ACCESS',
  archives: 'ARCHIVED_DATA',
}

/** Whether the dataset exists only for some callers. */
export function isHidden({ visibility }: Pick<AccessedDataset, 'visibility'>): boolean {
  return visibility === 'private' || visibility === 'draft'
}

/** Whether the dataset exists for the caller; for others it is a 404 like a dataset that does not exist. */
export function mayKnow(caller: Grant | null, dataset: AccessedDataset, clock: Clock): boolean {
  if (!isHidden(dataset)) return true
  const { table, visibility } = dataset
  if (caller === null || !(mayUse(caller, 'read', table) || mayUse(caller, 'write', table))) return false
  if (caller.seesHidden) return true
  if (isOwned(caller, dataset)) return visibility === 'private' || mayPublish(caller, table)
  return visibility === 'private' && liveGrant(caller, table, clock) !== null
}

/** Whether the caller, who knows the dataset, may get its data in this way. */
export function mayRead(
  caller: Grant | null,
  dataset: AccessedDataset,
  access: DatasetAccess,
  clock: Clock,
): boolean {
  if (caller === null) return dataset.visibility === 'open'
  if (caller.isTest || !mayUse(caller, 'read', dataset.table)) return false
  return hasAddOn(caller, access, dataset) || hasRight(caller, dataset, access, clock)
}

/** Throws 403 if the caller, who knows the dataset, may not get its data in this way. */
export function requireRead(
  caller: Grant,
  dataset: AccessedDataset,
  access: DatasetAccess,
  clock: Clock,
): void {
  const { table, visibility } = dataset
  requirePermission(caller, 'read', table)
  requireNoTest(caller)
  if (hasAddOn(caller, access, dataset) || hasRight(caller, dataset, access, clock)) return
  if (visibility === 'public') requireAddOn(caller, ADD_ON_OF[access])
  throw new Problem('access-limited', `The organization’s access to "${table}" does not include ${access}.`)
}

/**
 * Throws 403 if the caller may not get the changes between two versions. Those who may read archives may; others need
 * the right to downloads, only get the changes to the current version, and must have bought the version that these
 * begin with.
 */
export async function requireReadChanges(
  caller: Grant,
  dataset: AccessedDataset,
  step: { isToCurrent: boolean; hasBoughtFrom: () => Promise<boolean> },
  clock: Clock,
): Promise<void> {
  requirePermission(caller, 'read', dataset.table)
  if (mayRead(caller, dataset, 'archives', clock)) return
  if (step.isToCurrent) {
    requireRead(caller, dataset, 'downloads', clock)
    if (await step.hasBoughtFrom()) return
  }
  requireRead(caller, dataset, 'archives', clock)
}

/** What one download costs the caller, in credits. */
export function priceFor(caller: Grant | null, dataset: AccessedDataset, clock: Clock): number {
  if (dataset.visibility === 'open') return 0
  if (caller === null) return dataset.credits
  if (isOwned(caller, dataset)) return 0
  return liveGrant(caller, dataset.table, clock)?.credits ?? dataset.credits
}

/** The tables that grants of the caller's organization open in this way now. */
export function grantedTables(caller: Grant, access: DatasetAccess, clock: Clock): string[] {
  return [...caller.datasetGrants.keys()]
    .filter((table) => {
      const grant = liveGrant(caller, table, clock)
      return grant !== null && (grant.access === null || grant.access.has(access))
    })
    .sort()
}

/** Whether the key may change a dataset that its organization owns. */
function mayPublish(caller: Grant, table: string): boolean {
  return caller.publishes && (caller.kind === 'session' || mayUse(caller, 'write', table))
}

/** Add-ons open public datasets. Checked first, because almost every request for data ends here. */
function hasAddOn(caller: Grant, access: DatasetAccess, { visibility }: AccessedDataset): boolean {
  return visibility === 'public' && (caller.addOns.has(ADD_ON_OF[access]) || caller.scope === 'platform')
}

/** Everything else that opens a dataset. */
function hasRight(caller: Grant, dataset: AccessedDataset, access: DatasetAccess, clock: Clock): boolean {
  if (dataset.visibility === 'open' || isOwned(caller, dataset)) return true
  if (caller.seesHidden && isHidden(dataset)) return true
  const grant = liveGrant(caller, dataset.table, clock)
  return grant !== null && (grant.access === null || grant.access.has(access))
}

function isOwned({ organizationId }: Grant, { owner }: AccessedDataset): boolean {
  return owner !== null && owner.organizationId === organizationId
}

/** The grant of the caller's organization on a dataset, unless it has expired. */
function liveGrant({ datasetGrants }: Grant, table: string, clock: Clock): DatasetGrant | null {
  const grant = datasetGrants.get(table)
  if (grant === undefined) return null
  return grant.expiresAt === null || grant.expiresAt > clock().getTime() ? grant : null
}
