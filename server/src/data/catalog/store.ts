import type { ExtractPrice } from '@wayleave/contract/extract-prices'
import type { UpdateFrequency } from '@wayleave/contract/update-frequencies'
import type { Visibility } from '@wayleave/contract/visibilities'
import { hasStableIds } from '@wayleave/geodata/exports'
import type { Manifest } from '@wayleave/geodata/snapshot'
import { sql } from 'kysely'
import type { ControlDatabase, Db, Tx } from '../../base/database/open.ts'
import type { Tables } from '../../base/database/schema.ts'
import {
  type ColumnNotes,
  type Dataset,
  type DatasetDescription,
  type ListedDataset,
  type ManifestSummary,
  summaryOf,
  type Version,
  type VersionChanges,
} from './dataset.ts'

/** How many rows are read at a time, which bounds the memory for their texts. */
const LIST_BATCH = 500
/** The same for rows with whole manifests, of 15 KB and more each. */
const MANIFEST_BATCH = 50

/** All datasets as lists have them, read in steps. */
export async function readListedDatasets(db: Db): Promise<ListedDataset[]> {
  const datasets: ListedDataset[] = []
  for (let after = ''; ; after = datasets.at(-1)!.table) {
    const rows = await currentDatasets(db)
      .select(['versions.summary', manifestWithoutSummary])
      .where('datasets.table_name', '>', after)
      .orderBy('datasets.table_name')
      .limit(LIST_BATCH)
      .execute()
    for (const { manifest, summary, ...row } of rows) {
      datasets.push({
        ...datasetFields(row),
        manifest: summary === null ? summaryOf(parseManifest(manifest!)) : parseSummary(summary),
      })
    }
    if (rows.length < LIST_BATCH) return datasets
  }
}

/** The current datasets whose table names follow `after`, in that order, at most a few. */
export async function readDatasetsAfter(db: Db, after: string): Promise<Dataset[]> {
  const rows = await currentDatasets(db)
    .select('versions.manifest')
    .where('datasets.table_name', '>', after)
    .orderBy('datasets.table_name')
    .limit(MANIFEST_BATCH)
    .execute()
  return rows.map(toDataset)
}

export async function readTables(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('datasets').select('table_name').orderBy('table_name').execute()
  return rows.map((row) => row.table_name)
}

/**
 * Stores the summaries of versions that have none: those of earlier programs, and those that nodes of an earlier
 * program publish during an upgrade. Returns how many there were.
 */
export async function storeMissingSummaries(db: Db): Promise<number> {
  for (let count = 0; ; ) {
    const rows = await db
      .selectFrom('versions')
      .select(['snapshot', 'manifest'])
      .where('summary', 'is', null)
      .limit(MANIFEST_BATCH)
      .execute()
    for (const { snapshot, manifest } of rows) {
      const summary = JSON.stringify(summaryOf(parseManifest(manifest)))
      await db.updateTable('versions').set({ summary }).where('snapshot', '=', snapshot).execute()
    }
    count += rows.length
    if (rows.length < MANIFEST_BATCH) return count
  }
}

export async function readDataset(db: Db, table: string): Promise<Dataset | undefined> {
  const row = await currentDatasets(db)
    .select('versions.manifest')
    .where('datasets.table_name', '=', table)
    .executeTakeFirst()
  return row && toDataset(row)
}

export async function datasetExists(db: Db, table: string): Promise<boolean> {
  const row = await db
    .selectFrom('datasets')
    .select('table_name')
    .where('table_name', '=', table)
    .executeTakeFirst()
  return row !== undefined
}

/** All versions of the table, newest first, including the current one. */
export async function readVersions(db: Db, table: string): Promise<Version[]> {
  const rows = await db
    .selectFrom('versions')
    .selectAll()
    .where('table_name', '=', table)
    .orderBy('version', 'desc')
    .execute()
  return rows.map(toVersion)
}

export async function readSnapshotNames(db: Db): Promise<string[]> {
  return (await db.selectFrom('versions').select('snapshot').execute()).map((row) => row.snapshot)
}

/** Whether any version still references the snapshot. */
export async function isSnapshotNamed(db: Db, snapshot: string): Promise<boolean> {
  const row = await db
    .selectFrom('versions')
    .select('version')
    .where('snapshot', '=', snapshot)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Takes the table's next version number. The transaction locks it, so two publishers get two numbers in
 * commit order.
 */
export async function takeVersionNumber(tx: Tx, table: string): Promise<number> {
  const { last_version } = await tx
    .insertInto('version_numbers')
    .values({ table_name: table, last_version: 1 })
    .onConflict((row) =>
      row
        .column('table_name')
        .doUpdateSet((set) => ({ last_version: set('version_numbers.last_version', '+', 1) })),
    )
    .returning('last_version')
    .executeTakeFirstOrThrow()
  return last_version
}

export interface NewVersion {
  table: string
  /** The owner of a new dataset; null for the operator. */
  ownerId: string | null
  version: number
  snapshot: string
  manifest: Manifest
  hasSample: boolean
  note: string
  at: string
  description: DatasetDescription
  /** The title of a new dataset if the publisher gives none. */
  standardTitle: string
  /** The visibility of a new dataset if the publisher gives none. */
  standardVisibility: Visibility
}

export async function insertVersion(database: ControlDatabase, tx: Tx, added: NewVersion): Promise<void> {
  const { table, version, at, description } = added
  const existingDataset = await database
    .forUpdate(tx.selectFrom('datasets').select('table_name').where('table_name', '=', table))
    .executeTakeFirst()
  if (existingDataset) {
    await tx
      .updateTable('datasets')
      .set({ ...columnsOf(description), current_version: version, updated_at: at })
      .where('table_name', '=', table)
      .execute()
  } else {
    await tx
      .insertInto('datasets')
      .values({
        table_name: table,
        title: added.standardTitle,
        description: '',
        license: '',
        attribution: '',
        contact: '',
        citation: '',
        update_frequency: '',
        extract_price: null,
        keywords: '[]',
        column_notes: '{}',
        credits: 1,
        visibility: added.standardVisibility,
        owner_id: added.ownerId,
        created_at: at,
        ...columnsOf(description),
        current_version: version,
        updated_at: at,
      })
      .execute()
  }
  await tx
    .insertInto('versions')
    .values({
      table_name: table,
      version,
      snapshot: added.snapshot,
      created_at: at,
      rows: added.manifest.rows,
      manifest: JSON.stringify(added.manifest),
      summary: JSON.stringify(summaryOf(added.manifest)),
      has_sample: added.hasSample ? 1 : 0,
      note: added.note,
      // Row numbers cannot be compared.
      changes: hasStableIds(added.manifest) ? '' : 'null',
    })
    .execute()
}

export async function updateDescription(
  tx: Tx,
  table: string,
  description: DatasetDescription,
  at: string,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('datasets')
    .set({ ...columnsOf(description), updated_at: at })
    .where('table_name', '=', table)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** The snapshot of the version that was published last, or null if there is none. */
export async function newestSnapshot(db: Db): Promise<string | null> {
  const row = await db
    .selectFrom('versions')
    .innerJoin('datasets', (join) =>
      join
        .onRef('datasets.table_name', '=', 'versions.table_name')
        .onRef('datasets.current_version', '=', 'versions.version'),
    )
    .select('versions.snapshot')
    .orderBy('versions.created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.snapshot ?? null
}

/**
 * Deletes all versions except the `keep` newest and the version `served`. Returns the snapshots that no version
 * references any more.
 */
export async function deleteOldVersions(
  tx: Tx,
  table: string,
  keep: number,
  served: number | null = null,
): Promise<string[]> {
  const rows = await tx
    .selectFrom('versions')
    .select(['version', 'snapshot'])
    .where('table_name', '=', table)
    .orderBy('version', 'desc')
    .execute()
  const old = rows.slice(keep).filter(({ version }) => version !== served)
  if (old.length > 0) {
    await tx
      .deleteFrom('versions')
      .where('table_name', '=', table)
      .where(
        'version',
        'in',
        old.map((row) => row.version),
      )
      .execute()
  }
  return old.map((row) => row.snapshot)
}

/** Returns the dataset's snapshots, or null if there is no such dataset. */
export async function deleteDataset(
  database: ControlDatabase,
  tx: Tx,
  table: string,
): Promise<string[] | null> {
  const existingDataset = await database
    .forUpdate(tx.selectFrom('datasets').select('table_name').where('table_name', '=', table))
    .executeTakeFirst()
  if (!existingDataset) return null
  const rows = await tx.selectFrom('versions').select('snapshot').where('table_name', '=', table).execute()
  await tx.deleteFrom('versions').where('table_name', '=', table).execute()
  // Its source would publish it again.
  await tx.deleteFrom('sources').where('table_name', '=', table).execute()
  await tx.deleteFrom('datasets').where('table_name', '=', table).execute()
  return rows.map((row) => row.snapshot)
}

function currentDatasets(db: Db) {
  return db
    .selectFrom('datasets')
    .innerJoin('versions', (join) =>
      join
        .onRef('versions.table_name', '=', 'datasets.table_name')
        .onRef('versions.version', '=', 'datasets.current_version'),
    )
    .leftJoin('organizations', 'organizations.id', 'datasets.owner_id')
    .select([
      'datasets.table_name',
      'datasets.title',
      'datasets.description',
      'datasets.license',
      'datasets.attribution',
      'datasets.contact',
      'datasets.citation',
      'datasets.update_frequency',
      'datasets.keywords',
      'datasets.column_notes',
      'datasets.credits',
      'datasets.extract_price',
      'datasets.visibility',
      'datasets.owner_id',
      'organizations.name as owner_name',
      'datasets.updated_at',
      'versions.version',
      'versions.snapshot',
      'versions.created_at',
      'versions.has_sample',
      'versions.note',
      'versions.changes',
    ])
}

type VersionRow = Pick<
  Tables['versions'],
  'table_name' | 'version' | 'snapshot' | 'created_at' | 'manifest' | 'has_sample' | 'note' | 'changes'
>
type DatasetRow = VersionRow &
  Omit<Tables['datasets'], 'current_version' | 'created_at'> & { owner_name: string | null }

/** The manifest of rows that have no summary, else null: summaries are a tenth as large. */
const manifestWithoutSummary = sql<
  string | null
>`case when versions.summary is null then versions.manifest end`.as('manifest')

function toVersion(row: VersionRow): Version {
  return { ...versionFields(row), manifest: parseManifest(row.manifest) }
}

function toDataset({ manifest, ...row }: DatasetRow): Dataset {
  return { ...datasetFields(row), manifest: parseManifest(manifest) }
}

function versionFields(row: Omit<VersionRow, 'manifest'>): Omit<Version, 'manifest'> {
  return {
    table: row.table_name,
    version: row.version,
    snapshot: row.snapshot,
    createdAt: row.created_at,
    hasSample: row.has_sample === 1,
    note: row.note,
    changes: JSON.parse(row.changes || 'null') as VersionChanges | null,
  }
}

function datasetFields(row: Omit<DatasetRow, 'manifest'>): Omit<Dataset, 'manifest'> {
  return {
    ...versionFields(row),
    title: row.title,
    description: row.description,
    license: row.license,
    attribution: row.attribution,
    contact: row.contact,
    citation: row.citation,
    updateFrequency: row.update_frequency as UpdateFrequency,
    keywords: JSON.parse(row.keywords) as string[],
    columnNotes: JSON.parse(row.column_notes) as ColumnNotes,
    credits: row.credits,
    extractPrice: row.extract_price as ExtractPrice | null,
    visibility: row.visibility as Visibility,
    owner: row.owner_id === null ? null : { organizationId: row.owner_id, name: row.owner_name ?? '' },
    updatedAt: row.updated_at,
  }
}

function parseManifest(text: string): Manifest {
  return JSON.parse(text) as Manifest
}

function parseSummary(text: string): ManifestSummary {
  return JSON.parse(text) as ManifestSummary
}

/** The columns of the table `datasets` that a description sets; fields that are left out keep their values. */
function columnsOf({ keywords, columnNotes, updateFrequency, extractPrice, ...texts }: DatasetDescription) {
  const columns = {
    ...texts,
    update_frequency: updateFrequency,
    extract_price: extractPrice,
    keywords: keywords && JSON.stringify(keywords),
    column_notes: columnNotes && JSON.stringify(columnNotes),
  }
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
}
