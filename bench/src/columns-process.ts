/** Writes the compiled columns of a snapshot again, so that their share of publishing can be measured. */
import { join } from 'node:path'
import { openDuckDb, quoteText, writeColumns } from '@wayleave/geodata/features'
import { readManifest } from '@wayleave/geodata/snapshot'

const [folder, which] = process.argv.slice(2) as [string, string?]
const { columns, rows } = await readManifest(folder)
const { instance, close } = await openDuckDb({ threads: 2, memoryLimit: '512MB', folders: [folder] })
const from = `read_parquet(${quoteText(join(folder, 'rows.parquet'))})`
await writeColumns(
  join(folder, which === 'none' ? 'none.columns' : 'rows.columns'),
  { instance, from, rows },
  which === 'none' ? [] : columns.map((column) => ({ ...column, isWide: false })),
)
close()
