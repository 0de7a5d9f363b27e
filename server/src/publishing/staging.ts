import { existsSync, mkdirSync } from 'node:fs'
import { readdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isSnapshotName, newSnapshotName } from '../blobs/snapshot-name.ts'
import { tryLock } from '../file-lock.ts'

/** A folder in which one snapshot is made. It bears the snapshot's name, and its maker holds its lock. */
export interface Stage {
  /** The name of the snapshot that is being made. */
  name: string
  folder: string
  /** Removes the folder and releases the lock. Never fails: what cannot be removed is left to the next sweep. */
  end(): Promise<void>
}

export interface StagingSweep {
  /** The snapshots that live processes are working on. */
  alive: Set<string>
  /** The folders that dead processes left. */
  leftovers: string[]
}

/**
 * Several processes publish at once (the server, the command line), and any may be killed. What a dead one
 * leaves behind is told by its lock: a folder whose lock is free has no maker any more.
 */
export class Staging {
  readonly #root: string
  readonly #formerRoots: string[]

  /**
   * `root` must lie on the file system of the snapshots: a finished one is moved there by a rename. Former
   * roots are only swept.
   */
  constructor(root: string, formerRoots: string[] = []) {
    this.#root = root
    this.#formerRoots = formerRoots
  }

  begin(table: string): Stage {
    // A sweep may meet the folder before its lock is taken, and remove it: then another name is tried.
    for (let attempt = 0; attempt < 5; attempt++) {
      const name = newSnapshotName(table)
      const folder = join(this.#root, name)
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const lock = join(folder, 'lock')
      const unlock = tryLockQuietly(lock)
      if (unlock && existsSync(lock)) {
        const end = async () => {
          await removeQuietly(folder)
          unlock()
          await rmdir(this.#root).catch(() => {})
        }
        return { name, folder, end }
      }
      unlock?.()
    }
    throw new Error(`no staging folder in ${this.#root} could be locked`)
  }

  /** Removes what dead processes left. A dry run only lists it. */
  async sweep({ dryRun = false } = {}): Promise<StagingSweep> {
    const result: StagingSweep = { alive: new Set(), leftovers: [] }
    for (const root of [this.#root, ...this.#formerRoots]) {
      for (const name of await readdir(root).catch(() => [])) {
        if (!isSnapshotName(name)) continue
        const folder = join(root, name)
        const unlock = tryLockQuietly(join(folder, 'lock'))
        if (!unlock) {
          result.alive.add(name)
          continue
        }
        result.leftovers.push(name)
        try {
          // Under the lock: a maker that has just made the folder finds it locked or gone, and never half gone.
          // What the child of a killed process still writes makes this fail; the next sweep removes the rest.
          if (!dryRun) await removeQuietly(folder)
        } finally {
          unlock()
        }
      }
    }
    // Only an empty folder can be removed in this way.
    if (!dryRun) for (const root of [this.#root, ...this.#formerRoots]) await rmdir(root).catch(() => {})
    return result
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

async function removeQuietly(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(() => {})
}
