import type { ExtractPrice } from '@wayleave/contract/extract-prices'
import type { UpdateFrequency } from '@wayleave/contract/update-frequencies'
import type { Visibility } from '@wayleave/contract/visibilities'
import { hasStableIds } from '@wayleave/geodata/exports'
import type { Manifest } from '@wayleave/geodata/snapshot'
import { sql } from 'kysely'
import type { ControlDatabase, Db, Tx } from '../../base/database/open.ts'
import type { Tables } from '../../base/database/schema.ts'
import { StoredNotes } from './column-notes.ts'
import {
  type Dataset,
  type DatasetDescription,
  type DatasetState,
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

/** The folder of a version's snapshot, which may be that of an earlier version. */
export const snapshotFolder = sql<string>`coalesce(versions.reused_snapshot, versions.snapshot)`.as(
  'snapshot',
)

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

/** What a change of a dataset has to know of it: its manifest and the notes on its columns may have megabytes. */
export async function readDatasetState(db: Db, table: string): Promise<DatasetState | undefined> {
  const row = await db
    .selectFrom('datasets')
    .innerJoin('versions', (join) =>
      join
        .onRef('versions.table_name', '=', 'datasets.table_name')
        .onRef('versions.version', '=', 'datasets.current_version'),
    )
    .select(['versions.version', 'datasets.visibility', 'datasets.owner_id'])
    .where('datasets.table_name', '=', table)
    .executeTakeFirst()
  return (
    row && {
      version: row.version,
      visibility: row.visibility as Visibility,
      owner: row.owner_id === null ? null : { organizationId: row.owner_id },
    }
  )
}

export async function datasetExists(db: Db, table: string): Promise<boolean> {
  const row = await db
    .selectFrom('datasets')
    .select('table_name')
    .where('table_name', '=', table)
    .executeTakeFirst()
  return row !== undefined
}

/** All versions of the table, newest first, including the current one, without a draft. */
export async function readVersions(db: Db, table: string): Promise<Version[]> {
  const rows = await db
    .selectFrom('versions')
    .selectAll()
    .where('table_name', '=', table)
    .where('draft', 'is', null)
    .orderBy('version', 'desc')
    .execute()
  return rows.map(toVersion)
}

export async function readSnapshotNames(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('versions').select(snapshotFolder).distinct().execute()
  return rows.map((row) => row.snapshot)
}

/** Whether any version still references the snapshot. */
export async function isSnapshotNamed(db: Db, snapshot: string): Promise<boolean> {
  const row = await db
    .selectFrom('versions')
    .select('version')
    .where(({ or, eb }) => or([eb('snapshot', '=', snapshot), eb('reused_snapshot', '=', snapshot)]))
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
  /** What was fixed about the columns, in JSON; undefined to keep what there is. */
  schema?: string | undefined
}

export async function insertVersion(database: ControlDatabase, tx: Tx, added: NewVersion): Promise<void> {
  const { table, version, at, description } = added
  const schema = added.schema === undefined ? {} : { publishing_schema: added.schema }
  const existingDataset = await database
    .forUpdate(tx.selectFrom('datasets').select('table_name').where('table_name', '=', table))
    .executeTakeFirst()
  if (existingDataset) {
    await tx
      .updateTable('datasets')
      .set({ ...columnsOf(description), ...schema, current_version: version, updated_at: at })
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
        ...schema,
        current_version: version,
        updated_at: at,
      })
      .execute()
  }
  await insertVersionRow(tx, added)
}

/** Inserts the row of a version alone, which makes it neither current nor visible. */
export async function insertVersionRow(
  tx: Tx,
  added: Pick<NewVersion, 'table' | 'version' | 'snapshot' | 'manifest' | 'hasSample' | 'note' | 'at'>,
  special: Partial<Pick<Tables['versions'], 'reused_snapshot' | 'draft'>> = {},
): Promise<void> {
  await tx
    .insertInto('versions')
    .values({
      table_name: added.table,
      version: added.version,
      snapshot: added.snapshot,
      created_at: added.at,
      rows: added.manifest.rows,
      manifest: JSON.stringify(added.manifest),
      summary: JSON.stringify(summaryOf(added.manifest)),
      has_sample: added.hasSample ? 1 : 0,
      note: added.note,
      reused_snapshot: null,
      draft: null,
      // Row numbers cannot be compared.
      changes: hasStableIds(added.manifest) ? '' : 'null',
      ...special,
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
    .select(snapshotFolder)
    .orderBy('versions.created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.snapshot ?? null
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
      snapshotFolder,
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
  Omit<Tables['datasets'], 'current_version' | 'created_at' | 'publishing_schema'> & {
    owner_name: string | null
  }

/** The manifest of rows that have no summary, else null: summaries are a tenth as large. */
const manifestWithoutSummary = sql<
  string | null
>`case when versions.summary is null then versions.manifest end`.as('manifest')

export function toVersion(row: VersionRow & Pick<Tables['versions'], 'reused_snapshot'>): Version {
  const snapshot = row.reused_snapshot ?? row.snapshot
  return { ...versionFields({ ...row, snapshot }), manifest: parseManifest(row.manifest) }
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
    columnNotes: new StoredNotes(row.column_notes),
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
export function columnsOf({
  keywords,
  columnNotes,
  updateFrequency,
  extractPrice,
  ...texts
}: DatasetDescription) {
  const columns = {
    ...texts,
    update_frequency: updateFrequency,
    extract_price: extractPrice,
    keywords: keywords && JSON.stringify(keywords),
    column_notes: columnNotes && JSON.stringify(columnNotes),
  }
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
}
