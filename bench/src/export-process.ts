/** Builds one export and ends: what the bench measures from outside. */
import { buildExport, type ExportFormat } from '@wayleave/geodata/exports/index.ts'

const [folder, format, outPath] = process.argv.slice(2)
await buildExport(folder!, format as ExportFormat, outPath!, { table: 'places', title: 'Places', threads: 2 })
