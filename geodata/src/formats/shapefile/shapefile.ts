import { readdir, readFile } from 'node:fs/promises'
import { dirname, extname, join, parse } from 'node:path'
import type { Feature, FeatureStream, UnreadableRow, Value } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { type ByteSource, fileSource } from '../reading/byte-source.ts'
import { refuseLink } from '../reading/refuse-link.ts'
import { DEFAULT_LIMITS, type SourceLimits } from '../reading/source-limits.ts'
import { encodingNamed } from '../reading/text/encoding.ts'
import { DbfReader } from './dbf.ts'
import { ShpReader } from './shp.ts'

const BATCH_ROWS = 2000

/** The files of one layer, from a folder or an archive. */
export interface ShapefileParts {
  shp: ByteSource
  dbf: ByteSource | null
  /** The text of the .prj: the CRS as WKT. */
  prj: string | null
  /** The text of the .cpg: the encoding of the .dbf. */
  cpg: string | null
}

export interface ShapefileOptions {
  limits?: SourceLimits
  /** The encoding of the texts, chosen by the publisher. */
  encoding?: string
  /** Whether the .shp was received alone, so that a missing .dbf was left behind by its sender. */
  isAlone?: boolean
}

/** Opens a .shp on disk with its sibling files, whose extensions may differ in case. */
export async function openShapefile(
  path: string,
  file: string,
  options: ShapefileOptions = {},
): Promise<FeatureStream> {
  const { name, ext } = parse(path)
  const folder = dirname(path)
  const siblings = await readdir(folder)
  const sibling = async (extension: string) => {
    const fileName = siblings.find(
      (each) => parse(each).name === name && extname(each).toLowerCase() === extension,
    )
    if (fileName === undefined) return null
    await refuseLink(join(folder, fileName), file)
    return join(folder, fileName)
  }
  const text = async (extension: string) => {
    const path = await sibling(extension)
    return path ? await readFile(path, 'latin1') : null
  }
  const dbf = await sibling('.dbf')
  const stem = file.slice(0, file.length - ext.length)
  return openShapefileParts(
    {
      shp: await fileSource(path, file),
      dbf: dbf ? await fileSource(dbf, `${stem}.dbf`) : null,
      prj: await text('.prj'),
      cpg: await text('.cpg'),
    },
    options,
  )
}

export async function openShapefileParts(
  parts: ShapefileParts,
  options: ShapefileOptions = {},
): Promise<FeatureStream> {
  const limits = options.limits ?? DEFAULT_LIMITS
  const { file } = parts.shp
  if (!parts.dbf && options.isAlone) {
    await parts.shp.bytes[Symbol.asyncIterator]().return?.()
    throw new SourceError(
      `${file} came without the .dbf, .prj and other files that belong to it. Send a zip of them all.`,
    )
  }
  const shapes = await ShpReader.open(parts.shp, limits)
  const encoding = options.encoding === undefined ? null : encodingNamed(options.encoding)
  const table = parts.dbf && (await DbfReader.open(parts.dbf, parts.cpg, limits, encoding))
  const notes = table
    ? table.notes
    : ['The shapefile has no .dbf beside it: its features have no attributes.']
  const [shpBytes, dbfBytes] = [parts.shp.totalBytes, parts.dbf ? parts.dbf.totalBytes : 0]
  return {
    columns: table?.columns ?? [],
    notes,
    // Some writers begin the .prj with a byte order mark; the file is read as Latin-1.
    crs: parts.prj?.replace(/^(\uFEFF|\u00EF\u00BB\u00BF)/, '').trim() || null,
    spatial: true,
    totalBytes: shpBytes === null || dbfBytes === null ? null : shpBytes + dbfBytes,
    get bytesRead() {
      return shapes.window.position + (table?.window.position ?? 0)
    },
    async *batches() {
      try {
        yield* readRows(shapes, table, file, notes)
      } finally {
        await shapes.window.close()
        await table?.window.close()
      }
    },
  }
}

async function* readRows(
  shapes: ShpReader,
  table: DbfReader | null,
  file: string,
  notes: string[],
): AsyncGenerator<(Feature | UnreadableRow)[]> {
  let batch: (Feature | UnreadableRow)[] = []
  for (let row = 1; ; row++) {
    if (table && row > table.rows && !(await shapes.hasNext())) {
      if (shapes.window.available > 0)
        notes.push(`${file} has bytes after its last shape: they were ignored.`)
      break
    }
    let geometry = shapes.next()
    if (geometry === undefined) {
      if (!(await shapes.fill())) {
        if (table && row <= table.rows)
          throw new SourceError(`${file} has ${row - 1} shapes, but its .dbf has ${table.rows} rows.`)
        break
      }
      geometry = shapes.next()!
    }
    let values: Value[] | string | null | undefined = table ? table.next() : []
    if (values === undefined) {
      if (!(await table!.fill()))
        throw new SourceError(`${file} has more shapes than the ${table!.rows} rows of its .dbf.`)
      values = table!.next()!
    }
    if (values === null) continue
    if (typeof geometry === 'string') batch.push({ row, problem: geometry })
    else if (typeof values === 'string') batch.push({ row, problem: values })
    else batch.push({ id: null, values, geometry, row })
    if (batch.length === BATCH_ROWS) {
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}
