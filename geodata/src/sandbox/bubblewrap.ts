import { dirname } from 'node:path'
import type { Bind } from './input-files.ts'

/** The devices that programs expect. There is no /dev/shm: memory would be written to without a limit. */
const DEVICES = ['/dev/null', '/dev/zero', '/dev/random', '/dev/urandom']

export interface View {
  readable: Bind[]
  hidden: string[]
  input: Bind[]
  writable: string[]
}

/**
 * The command line of bubblewrap: a root folder of its own that contains what is named here, and new namespaces for
 * the network, processes, users (unless the service is root, see sandbox-user.ts), IPC and host names. Neither /proc
 * nor /sys is there: both describe the machine, and mounting /proc is refused inside of containers and units.
 */
export function bubblewrapCommand(inner: string[], view: View): string[] {
  const { readable, input, writable } = view
  const hidden = view.hidden.filter((path) => readable.some(({ target }) => path.startsWith(`${target}/`)))
  const targets = [...readable, ...input].map(({ target }) => target)
  const bind = ({ source, target }: Bind) => ['--ro-bind', source, target]
  return [
    'bwrap',
    // Ends with the service, with all its processes, even if it is blocked.
    ...['--die-with-parent', '--new-session'],
    ...['--unshare-ipc', '--unshare-net', '--unshare-pid', '--unshare-uts', '--unshare-cgroup-try'],
    ...(process.getuid?.() === 0
      ? // The next program changes to another user, after which nothing of these is left.
        [
          '--cap-drop',
          'ALL',
          '--cap-add',
          'CAP_SETUID',
          '--cap-add',
          'CAP_SETGID',
          '--cap-add',
          'CAP_SETPCAP',
        ]
      : ['--unshare-user', '--disable-userns']),
    ...foldersAbove([...targets, ...DEVICES, ...writable]).flatMap((path) => ['--dir', path]),
    ...readable.flatMap(bind),
    ...DEVICES.flatMap((device) => ['--dev-bind', device, device]),
    ...hidden.flatMap((path) => ['--tmpfs', path]),
    ...input.flatMap(bind),
    ...writable.flatMap((path) => ['--bind', path, path]),
    ...hidden.flatMap((path) => ['--remount-ro', path]),
    ...['--remount-ro', '/', '--chdir', '/', '--'],
    ...inner,
  ]
}

/** Without being named, they would be for root alone. */
function foldersAbove(paths: string[]): string[] {
  const folders = new Set<string>()
  for (const path of paths)
    for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) folders.add(folder)
  return [...folders].sort((a, b) => a.length - b.length)
}
