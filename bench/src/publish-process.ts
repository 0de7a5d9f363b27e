/** Compiles one file into one folder in a process of its own, so that its memory and time can be seen. */
import { compileSnapshot } from '@wayleave/geodata/compile/compile.ts'

const [path, folder] = process.argv.slice(2) as [string, string]
await compileSnapshot({ path, folder })
