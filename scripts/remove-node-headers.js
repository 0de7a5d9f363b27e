/**
 * Runs after `npm ci`: deletes the C++ headers of the Node that it installed, 61 MB of 188 MB, which nothing uses.
 * Plain JavaScript, because an older Node may run it.
 */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const modules = join(import.meta.dirname, '..', 'node_modules')
for (const name of readdirSync(modules)) {
  if (/^node-[a-z]+-[a-z0-9]+$/.test(name))
    rmSync(join(modules, name, 'include'), { recursive: true, force: true })
}
