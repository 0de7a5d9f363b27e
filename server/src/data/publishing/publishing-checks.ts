import { createHash } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { SourceError } from '@wayleave/geodata/compile'
import { isPublishing } from '../../accounts/access/membership-store.ts'
import type { Db } from '../../base/database/open.ts'
import { invalidInput, notFound } from '../../base/problem.ts'
import type { ColumnNotes } from '../catalog/column-notes.ts'
import type { Dataset, DatasetState } from '../catalog/dataset.ts'
import { readNameOwner } from '../catalog/name-owner-store.ts'

/** The dataset may have been replaced by one of another publisher since the caller was checked. */
export function requireOwner(
  dataset: Pick<DatasetState, 'owner'> | undefined,
  table: string,
  ownerId: string | null,
): void {
  if (ownerId !== null && dataset?.owner?.organizationId !== ownerId)
    throw notFound(`dataset named "${table}"`)
}

/**
 * Checked when the version is made visible, and before an address is read: the operator may have stopped the
 * organization meanwhile. `ownerId` is null for an address of the operator.
 */
export async function requirePublisher(db: Db, table: string, ownerId: string | null): Promise<void> {
  if (ownerId !== null && !(await isPublishing(db, ownerId)))
    throw new SourceError('The organization is not allowed to publish any more: nothing was published.')
  const nameOwner = await readNameOwner(db, table)
  if (nameOwner !== undefined && nameOwner !== ownerId)
    throw new SourceError(`The name "${table}" is taken by another publisher: nothing was published.`)
}

/** The files of a source before it is read. */
export interface SourceState {
  bytes: number
  /** Changes if a file is added, removed, replaced or written to. */
  stamp: string
}

/** The state of a file, of the files in a folder, or of the files of a source with several parts. */
export async function sourceState(path: string, parts: { path: string }[] = []): Promise<SourceState> {
  const files = parts.length > 0 ? parts.map((part) => part.path) : await filesOf(path)
  const hash = createHash('sha256')
  let bytes = 0
  for (const file of files) {
    const { size, mtimeMs, ino } = await stat(file)
    hash.update(`${file}\0${size} ${mtimeMs} ${ino}\n`)
    bytes += size
  }
  return { bytes, stamp: hash.digest('hex') }
}

async function filesOf(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path]
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

/** A file that another program is still writing would be published in part. */
export function requireUnchanged(file: string, before: SourceState, after: SourceState): void {
  if (after.stamp !== before.stamp)
    throw new SourceError(`${file} was changed while it was read: nothing was published. Publish it again.`)
}

/** Notes on columns that the dataset does not have are mistakes in their names. */
export function requireColumns(
  { table, manifest }: Pick<Dataset, 'table' | 'manifest'>,
  notes: ColumnNotes = {},
): void {
  const names = new Set(manifest.columns.map(({ name }) => name))
  const unknown = Object.keys(notes).find((name) => !names.has(name))
  if (unknown !== undefined) {
    throw invalidInput('columns', `names "${unknown.slice(0, 80)}", which is not a column of "${table}"`)
  }
}

/** Makes a title of a table name: `land_use_2024` becomes "Land use 2024". */
export function titleOf(table: string): string {
  const words = table.replaceAll('_', ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
