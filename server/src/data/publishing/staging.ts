import { existsSync, mkdirSync } from 'node:fs'
import { readdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { tryLock } from '../../base/locks/file-lock.ts'
import { isSnapshotName, newSnapshotName } from '../blobs/snapshot-name.ts'

/**
 * A staging folder in which one snapshot is built. It has the snapshot's name, and the process that builds it
 * holds its lock.
 */
export interface Stage {
  /** The name of the snapshot that is being built. */
  name: string
  folder: string
  /**
   * Removes the folder and releases the lock. Never fails: anything that cannot be removed is left to the
   * next sweep.
   */
  end(): Promise<void>
}

export interface StagingSweep {
  /** The snapshots that live processes are building. */
  alive: Set<string>
  /** The folders that dead processes left behind. */
  leftovers: string[]
}

/**
 * The staging folders. Several processes publish concurrently (the server, the command line), and any of them
 * may be killed. The lock identifies the leftovers of a dead process: if a folder's lock is free, its process
 * is gone.
 */
export class Staging {
  readonly #root: string
  readonly #formerRoots: string[]

  /**
   * `root` must be on the same file system as the snapshots, because a finished snapshot is moved there by a
   * rename. Former roots are only swept.
   */
  constructor(root: string, formerRoots: string[] = []) {
    this.#root = root
    this.#formerRoots = formerRoots
  }

  begin(table: string): Stage {
    // A sweep may find and remove the folder before its lock is taken; then retry with another name.
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

  /** Removes what dead processes left behind. A dry run only lists it. */
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
          // Removed under the lock, so that a process that has just created the folder finds it locked or
          // gone, never partly removed. If the child of a killed process still writes to the folder, this
          // fails, and the next sweep removes the rest.
          if (!dryRun) await removeQuietly(folder)
        } finally {
          unlock()
        }
      }
    }
    // `rmdir` only removes an empty folder.
    if (!dryRun) for (const root of [this.#root, ...this.#formerRoots]) await rmdir(root).catch(() => {})
    return result
  }
}

/**
 * Returns null on an error as well: a folder that vanishes during the check belongs to a process that has
 * just finished.
 */
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
