/** `npm run build`: writes the program to dist/program, as it is packed and installed. */
import { join } from 'node:path'
import { buildProgram } from './build-program.ts'

const root = join(import.meta.dirname, '../..')
await buildProgram(root, join(root, 'dist', 'program'))
