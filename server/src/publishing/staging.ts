import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { tryLock } from '../file-lock.ts'
import { randomBase62 } from '../id.ts'

/** A folder in which one snapshot is made. It bears the snapshot's name, and its maker holds its lock. */
export interface Stage {
  /** The name of the snapshot that is being made. */
  name: string
  folder: string
  /** Gives up the lock and removes the folder. */
  end(): void
}

/**
 * Several processes publish at once (the server, the command line), and any may be killed. What a dead one
 * leaves behind is told by its lock: a folder whose lock is free has no maker any more.
 */
export class Staging {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  begin(table: string): Stage {
    const name = `${table}_${randomBase62(12)}`
    const folder = join(this.#root, name)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const unlock = tryLock(join(folder, 'lock'))
    if (!unlock) throw new Error(`a new staging folder is locked: ${name}`)
    return {
      name,
      folder,
      end: () => {
        unlock()
        rmSync(folder, { recursive: true, force: true })
      },
    }
  }

  /** Removes what dead processes left, and answers the names that living ones are working on. */
  sweep(): Set<string> {
    mkdirSync(this.#root, { recursive: true, mode: 0o700 })
    const alive = new Set<string>()
    for (const name of readdirSync(this.#root)) {
      const folder = join(this.#root, name)
      const unlock = tryLockQuietly(join(folder, 'lock'))
      if (unlock) {
        unlock()
        rmSync(folder, { recursive: true, force: true })
      } else alive.add(name)
    }
    return alive
  }
}

/** A folder that vanishes while it is looked at belongs to a maker that has just finished. */
function tryLockQuietly(path: string): (() => void) | null {
  try {
    return tryLock(path)
  } catch {
    return null
  }
}
