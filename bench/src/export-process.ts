/** Builds one export and exits; the benchmark measures this process from outside. */
import type { ExportFormat } from '@wayleave/contract/export-formats'
import { buildExport } from '@wayleave/geodata/exports'

const [folder, format, outPath] = process.argv.slice(2)
await buildExport(folder!, format as ExportFormat, outPath!, { table: 'places', title: 'Places', threads: 2 })
