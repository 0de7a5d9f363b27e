import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { SNAPSHOT_FILES } from '../../snapshot/manifest.ts'
import { SourceError } from '../../source-error.ts'
import { compileSnapshot } from '../compile.ts'
import type { ColumnChoice, Compiled, CompileOptions, CompileProgress } from '../compile-options.ts'
import { describeMerge, type MergedColumns } from './merge-sql.ts'
import { openMerged, writeMerged } from './merged-source.ts'
import type { Revision } from './revision.ts'
import { chooseKey, type Key } from './revision-key.ts'

type RevisionOptions = CompileOptions & { revision: Revision }

/**
 * Compiles the version that a file of changes makes of the version before. The file is compiled by itself, with the
 * columns and types of the version before; the rows of both are merged by a database; and the merged rows are compiled
 * like those of any source. So a revision has the same checks and the same result as the whole dataset in one file.
 */
export async function compileRevision(
  options: RevisionOptions,
  onProgress: (progress: CompileProgress) => void = () => {},
  signal?: AbortSignal,
): Promise<Compiled> {
  const { revision, folder, ...reading } = options
  const file = options.file ?? basename(options.path)
  const { before } = revision
  const key = chooseKey(revision, options.idColumn, file)
  const deltaFolder = join(folder, 'delta')
  const mergedFile = join(folder, 'merged.parquet')
  const delta = await compileSnapshot(
    {
      ...reading,
      folder: deltaFolder,
      columns: choicesFor(revision, options.columns),
      idColumn: key.kind === 'column' ? key.name : undefined,
      // An update may lack it.
      timeColumn: undefined,
      ...{ sample: false, tiles: false },
    },
    onProgress,
    signal,
  )
  const { manifest: added, report: addedReport } = delta
  const columns: MergedColumns = describeMerge(before.manifest, added, revision, file)
  const places = {
    before,
    delta: {
      rows: join(deltaFolder, SNAPSHOT_FILES.rows),
      ids: added.id.isRowNumber === true ? join(deltaFolder, SNAPSHOT_FILES.ids) : null,
    },
  }
  requireIds(key, added.id, before.manifest.id, file)
  const scratch = { folder, temporaryFolder: join(folder, 'delta', 'spill'), mergedFile }
  const changes = await writeMerged(scratch, places, { key, columns, revision, file, options, signal })
  const source = await openMerged(mergedFile, file, { key, columns, options })
  const idColumn = key.kind === 'column' ? key.name : undefined
  const timeColumn = options.timeColumn ?? before.manifest.timeColumn ?? undefined
  const compiled = await compileSnapshot(
    {
      ...{ path: options.path, file, folder, idColumn, timeColumn },
      ...{ sample: options.sample, tiles: options.tiles, limits: options.limits },
      ...{ memoryMegabytes: options.memoryMegabytes, threads: options.threads },
    },
    onProgress,
    signal,
    { stream: source, format: added.source.format, bytes: added.source.bytes },
  )
  for (const path of [deltaFolder, mergedFile]) await rm(path, { recursive: true, force: true })
  const { skipped, problems, crs, crsTransformation } = addedReport
  const notes = [...new Set([...addedReport.notes, ...compiled.report.notes])]
  return {
    manifest: compiled.manifest,
    report: { ...compiled.report, skipped, problems, crs, crsTransformation, notes, changes },
  }
}

/** The columns of the file: as the publisher fixed them, otherwise with the types of the version before. */
function choicesFor({ mode, before }: Revision, choices: ColumnChoice[] = []): ColumnChoice[] {
  const types = new Map(before.manifest.columns.map(({ name, type }) => [name, type]))
  const fixed = choices.map((choice) => ({
    ...choice,
    type: types.get(choice.name ?? choice.source) ?? choice.type,
    // What an update does not mention stays as it was.
    ...(mode === 'update' && { isOptional: true }),
  }))
  const names = new Set(fixed.map(({ name, source }) => name ?? source))
  const others = before.manifest.columns.filter(({ name }) => !names.has(name))
  return [...fixed, ...others.map(({ name, type }) => ({ source: name, type, isOptional: true }))]
}

function requireIds(
  key: Key,
  added: { type: string; isRowNumber?: boolean },
  before: { type: string },
  file: string,
): void {
  if (key.kind !== 'source') return
  if (added.isRowNumber !== false)
    throw new SourceError(
      `${file} has no ids of its own, and those of the dataset come from its source. Publish the whole dataset, or with --id-column.`,
    )
  if (added.type !== before.type)
    throw new SourceError(
      `The ids of ${file} are of type ${added.type}, and those of the dataset ${before.type}.`,
    )
}
