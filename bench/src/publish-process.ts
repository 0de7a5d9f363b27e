/** Compiles one file into one folder in a separate process, so that its memory and time can be measured. */
import { compileSnapshot } from '@wayleave/geodata/compile'

const [path, folder] = process.argv.slice(2) as [string, string]
await compileSnapshot({ path, folder })
