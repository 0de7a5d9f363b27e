/**
 * Reads files as a program without any defence would: GDAL with all its drivers, and SQLite with whatever the schema
 * says. It runs in place of the compiler, so that the sandbox alone has to hold. Prints all that it found.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

interface NaiveReading {
  path: string
  layer: string | null
}

for (const { path, layer } of JSON.parse(readFileSync(0, 'utf8')) as NaiveReading[]) {
  const settings = {
    GML_DOWNLOAD_SCHEMA: 'YES',
    OGR_SQLITE_LIST_VIRTUAL_OGR: 'YES',
    GML_SKIP_RESOLVE_ELEMS: 'NONE',
  }
  const args = ['-ro', '-al', '--config', 'OGR_SQLITE_LOAD_EXTENSIONS', 'ENABLE_SQL_LOAD_EXTENSION', path]
  const { stdout, stderr } = spawnSync('ogrinfo', layer === null ? args : [...args, layer], {
    env: { ...process.env, ...settings },
    timeout: 5000,
    maxBuffer: 1 << 20,
  })
  writeSync(3, Buffer.concat([stdout, stderr]).subarray(0, 100_000))
  try {
    const database = new DatabaseSync(path, { readOnly: true, allowExtension: true })
    for (const row of database.prepare(`SELECT * FROM "${layer ?? 'layer'}" LIMIT 10`).iterate())
      writeSync(
        3,
        JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
      )
  } catch (error) {
    writeSync(3, String(error))
  }
}
writeSync(3, 'all were read')
process.exit()
