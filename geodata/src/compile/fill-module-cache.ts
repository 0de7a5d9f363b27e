import { existsSync } from 'node:fs'
import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { moduleCache } from '../sandbox/minimal-environment.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { SANDBOX_USER } from '../sandbox/sandbox-user.ts'
import { defaultMemoryMegabytes } from './memory.ts'

let isDone = false

/**
 * Fills the cache of compiled modules, once, by compiling a file of our own: later processes start in half the time.
 * They can only read the cache, because a file that takes over a process must not leave code for the next one.
 */
export async function fillModuleCache(
  sandbox: Sandbox,
  compile: (options: { path: string; folder: string; memoryMegabytes: number }) => Promise<unknown>,
): Promise<void> {
  const cache = moduleCache()
  if (cache === null || isDone || sandbox.mode === 'off') return
  isDone = true
  const mark = join(cache, 'is-filled')
  if (existsSync(mark) || !(await sandbox.state()).isClosed) return
  const scratch = await mkdtemp(join(tmpdir(), 'wayleave-modules-'))
  try {
    await mkdir(cache, { recursive: true })
    if (SANDBOX_USER !== null) await chown(cache, SANDBOX_USER, SANDBOX_USER)
    const path = join(scratch, 'one.geojson')
    const folder = join(scratch, 'snapshot')
    await writeFile(path, '{"type":"Point","coordinates":[1,2]}', { mode: 0o644 })
    await mkdir(folder)
    await compile({ path, folder, memoryMegabytes: defaultMemoryMegabytes() })
    await writeFile(mark, '')
  } catch {
    // Without the cache, processes start more slowly.
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}
