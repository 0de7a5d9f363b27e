/** `npm run contract`: writes the files of the clients that are made from the contract. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clientFiles } from './client-files.ts'

const root = join(import.meta.dirname, '../..')
for (const [path, make] of Object.entries(clientFiles)) writeFileSync(join(root, path), make())
