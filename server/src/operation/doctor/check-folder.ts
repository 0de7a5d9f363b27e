import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rmdir, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { tryLock } from '../../base/locks/file-lock.ts'
import type { Config } from '../../base/settings/config.ts'
import { requireUsableFolder } from '../backup/restore/folder-marks.ts'
import { type Check, ok, problem, warning } from './check.ts'

const GIGABYTE = 1e9
const MIN_DESCRIPTORS = 4096

export async function checkFolder(config: Pick<Config, 'dataDir' | 'databaseUrl'>): Promise<Check[]> {
  const { dataDir } = config
  const folder = await stat(dataDir).catch(() => null)
  if (!folder?.isDirectory()) {
    return [
      warning(
        'folder',
        `There is no folder ${dataDir}.`,
        'The first start makes it. Else set WAYLEAVE_DATA_DIR.',
      ),
    ]
  }
  const checks: Check[] = []
  try {
    requireUsableFolder(config)
  } catch (error) {
    checks.push(problem('folder', (error as Error).message, 'The service does not start like this.'))
  }
  try {
    await rmdir(await mkdtemp(join(dataDir, '.doctor-')))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    checks.push(
      problem(
        'folder',
        `${dataDir} cannot be written (${code}).`,
        'Give it to the user that runs the service.',
      ),
    )
  }
  if ((folder.mode & 0o077) !== 0) {
    checks.push(
      warning(
        'folder',
        `Other users of this machine may read ${dataDir}, which holds signing keys.`,
        `chmod 700 ${dataDir}`,
      ),
    )
  }
  const snapshots = await stat(join(dataDir, 'snapshots')).catch(() => null)
  if (snapshots && snapshots.dev !== folder.dev) {
    checks.push(
      warning(
        'folder',
        'snapshots/ is on another file system than the rest of the data folder.',
        'This works; a backup then copies again what is removed while it runs.',
      ),
    )
  }
  return checks.length > 0 ? checks : [ok('folder', `${dataDir} is private and can be written.`)]
}

export async function checkDisk(dataDir: string): Promise<Check> {
  const disk = await statfs(dataDir).catch(() => null)
  if (!disk) return warning('disk', 'The free space is not known.', 'Make the data folder first.')
  const free = disk.bavail * disk.bsize
  const share = free / (disk.blocks * disk.bsize)
  const text = `${(free / GIGABYTE).toFixed(1)} GB are free (${Math.floor(share * 100)} %).`
  if (free < GIGABYTE / 4) return problem('disk', text, 'Free space now: writing fails soon.')
  if (free < GIGABYTE || share < 0.05)
    return warning('disk', text, 'Free space: see "wayleave prune --dry-run".')
  if (disk.files > 0 && disk.ffree / disk.files < 0.05) {
    return warning(
      'disk',
      'Less than 5 % of the inodes are free.',
      'Remove small files, or use another file system.',
    )
  }
  return ok('disk', text)
}

/** Only SQLite takes the lock: on PostgreSQL, many servers share a folder. */
export function checkLock({ dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>): Check | null {
  if (databaseUrl) return null
  const path = join(dataDir, 'server.lock')
  if (!existsSync(path)) return ok('lock', 'No server runs on the data folder.')
  const unlock = tryLock(path)
  if (!unlock) return ok('lock', 'A server runs on the data folder.')
  unlock()
  return ok('lock', 'No server runs on the data folder.')
}

/** Each connection uses one file descriptor, and each open snapshot a few. */
export async function checkDescriptors(): Promise<Check> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1]
  if (!soft) return ok('descriptors', 'This system does not tell the limit of open files.')
  if (soft !== 'unlimited' && Number(soft) < MIN_DESCRIPTORS) {
    return warning(
      'descriptors',
      `A process may open ${soft} files, which bounds connections.`,
      'Raise it: ulimit -n 65536, or LimitNOFILE=65536 in the systemd unit.',
    )
  }
  return ok('descriptors', `A process may open ${soft} files.`)
}
