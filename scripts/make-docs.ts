/** `npm run docs`: writes the pages of docs/ that are generated from the program's tables. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const root = join(import.meta.dirname, '..')
const module = pathToFileURL(join(root, 'server/src/site/documentation/generated-pages.ts')).href
const { generatedPages } = (await import(module)) as { generatedPages: Record<string, () => string> }
for (const [name, make] of Object.entries(generatedPages)) writeFileSync(join(root, 'docs', name), make())

const commands = pathToFileURL(join(root, 'server/src/command/command-line-page.ts')).href
const { commandLinePage } = (await import(commands)) as { commandLinePage: () => string }
writeFileSync(join(root, 'docs', 'command-line.md'), commandLinePage())
