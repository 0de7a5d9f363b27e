import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { minimalEnvironment } from './minimal-environment.ts'

const TIMEOUT_MS = 10_000

/** Runs Node in the sandbox once, reading a file of the program. Null if that works, otherwise why it does not. */
export async function probe(
  closed: (inner: string[], folder: string) => Promise<string[]>,
): Promise<string | null> {
  if (process.platform !== 'linux') return 'bubblewrap exists for Linux only.'
  let folder: string | null = null
  try {
    folder = await mkdtemp(join(tmpdir(), 'wayleave-sandbox-'))
    const script = `require('node:fs').accessSync(${JSON.stringify(import.meta.filename)}, 4)`
    const [program, ...args] = await closed([process.execPath, '--eval', script], folder)
    await new Promise<void>((resolve, reject) => {
      execFile(
        program!,
        args,
        { env: minimalEnvironment(folder!), timeout: TIMEOUT_MS },
        (error, _, stderr) => {
          if (error) reject(Object.assign(error, { stderr }))
          else resolve()
        },
      )
    })
    return null
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string }
    if (code === 'ENOENT') return 'bubblewrap is not installed (package bubblewrap).'
    const reason = (stderr ?? '').trim().split('\n')[0] || String(error)
    return `bubblewrap does not work here: ${reason}. It needs user namespaces; containers and units must permit them.`
  } finally {
    if (folder !== null) await rm(folder, { recursive: true, force: true })
  }
}
