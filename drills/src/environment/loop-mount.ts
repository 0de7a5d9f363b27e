import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  constants,
  copyFileSync,
  mkdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import type { DrillRun } from '../drill.ts'

/** The reason why file systems cannot be mounted here, or null. */
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
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', folder])
  run.cleanUp(() => unmount(folder))
  return folder
}

/** A file with an ext4 file system, mounted through a loop device. */
export class LoopMount {
  readonly folder: string
  readonly #image: string
  readonly #device: string

  private constructor(run: DrillRun, image: string, name: string) {
    this.#image = image
    this.folder = join(run.folder, name)
    mkdirSync(this.folder, { recursive: true })
    // The kernel releases the loop device together with its last user, the mount.
    execFileSync('mount', ['-o', 'loop', image, this.folder])
    run.cleanUp(() => unmount(this.folder))
    chmodSync(this.folder, 0o700)
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
   * Mounts the current content of the block device as a new file system, without a sync before. The copy is
   * repeated if the device was written to meanwhile, because it must show a single moment, as after a power
   * cut. The caller must first stop all processes that write, so that this terminates.
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

  /** Unmounts the file system and removes the image; the folder must no longer be in use. */
  discard(): void {
    unmount(this.folder)
    execFileSync('rm', ['-f', this.#image])
  }

  /** Completed writes, sectors written and requests in flight, from the kernel's statistics of the device. */
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
