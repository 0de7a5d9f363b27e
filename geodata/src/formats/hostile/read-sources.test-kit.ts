import { readFileSync } from 'node:fs'
import { openSource, type SourceOptions } from '../index.ts'
import { readAll } from '../reading.test-kit.ts'

/** A program that reads sources one after the other, refused or not, and prints how many. */
const sources: { path: string; options?: SourceOptions }[] = JSON.parse(
  readFileSync(process.argv[2]!, 'utf8'),
)
for (const { path, options } of sources) await readAll(openSource(path, options)).catch(() => {})
process.stdout.write(`${sources.length}\n`)
