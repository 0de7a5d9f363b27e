import { execFileSync, spawnSync } from 'node:child_process'
import { constants, copyFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { DrillRun } from './drill.ts'

/** Why file systems cannot be mounted here, or null. */
export function mountObstacle(): string | null {
  if (process.getuid?.() !== 0) return 'only root can mount file systems'
  const folder = execFileSync('mktemp', ['-d'], { encoding: 'utf8' }).trim()
  try {
    const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder])
    if (status !== 0) return 'this system does not allow mounts, as in most containers'
    execFileSync('umount', [folder])
    return null
  } finally {
    execFileSync('rmdir', [folder])
  }
}

/** A tmpfs of a few megabytes, unmounted at the end of the run. */
export function mountTmpfs(run: DrillRun, name: string, megabytes: number): string {
  const folder = join(run.folder, name)
  mkdirSync(folder)
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder])
  run.cleanUp(() => unmount(folder))
  return folder
}

/** A file with an ext4 file system, mounted by a loop device. */
export class LoopMount {
  readonly folder: string
  readonly #image: string
  readonly #device: string

  private constructor(run: DrillRun, image: string, name: string) {
    this.#image = image
    this.folder = join(run.folder, name)
    mkdirSync(this.folder, { recursive: true })
    // The kernel releases the loop device with its last user, the mount.
    execFileSync('mount', ['-o', 'loop', image, this.folder])
    run.cleanUp(() => unmount(this.folder))
    this.#device = execFileSync('findmnt', ['-n', '-o', 'SOURCE', this.folder], { encoding: 'utf8' }).trim()
  }

  static create(run: DrillRun, name: string, megabytes: number): LoopMount {
    const image = join(run.folder, `${name}.ext4`)
    writeFileSync(image, '')
    truncateSync(image, megabytes * 1024 ** 2)
    execFileSync('mkfs.ext4', ['-q', '-F', image])
    return new LoopMount(run, image, name)
  }

  /**
   * What the block device holds at this moment, mounted as a new file system. Nothing is synced before. The
   * copy is taken again if the device was written to meanwhile: it must show one moment, as a power cut does.
   * Whoever calls stops all processes that write first, so that this ends.
   */
  cut(run: DrillRun, name: string): LoopMount {
    const copy = join(run.folder, `${name}.ext4`)
    for (let attempt = 0; attempt < 50; attempt++) {
      const before = this.#writes()
      copyFileSync(this.#image, copy, constants.COPYFILE_FICLONE)
      if (this.#writes() === before) return new LoopMount(run, copy, name)
    }
    throw new Error('The device was written to during every attempt to copy it.')
  }

  /** Unmounts and removes the image; the folder must not be in use any more. */
  discard(): void {
    unmount(this.folder)
    execFileSync('rm', ['-f', this.#image])
  }

  /** Completed writes, sectors written and requests under way, from the kernel's statistics of the device. */
  #writes(): string {
    const fields = readFileSync(`/sys/block/${basename(this.#device)}/stat`, 'utf8')
      .trim()
      .split(/\s+/)
    return [fields[4], fields[6], fields[8]].join(' ')
  }
}

function unmount(folder: string): void {
  spawnSync('umount', ['--lazy', folder], { stdio: 'ignore' })
}
