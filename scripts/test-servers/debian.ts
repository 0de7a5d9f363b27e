import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { TO_STANDARD_ERROR } from '../run-program.ts'

/** A Debian package, and how to detect without dpkg or apt whether its content is installed. */
export interface DebianNeed {
  package: string
  isPresent(): boolean
}

export function hasProgram(name: string): boolean {
  return spawnSync('sh', ['-c', 'command -v "$0"', name], { stdio: 'ignore' }).status === 0
}

/** Chromium under the names of its packages, the smallest first. */
export const CHROMIUM_NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

/** The path of the first of these programs that is installed, or null. */
export function findProgram(...names: string[]): string | null {
  for (const name of names) {
    const lookup = spawnSync('sh', ['-c', 'command -v "$0"', name], { encoding: 'utf8' })
    if (lookup.status === 0) return lookup.stdout.trim()
  }
  return null
}

/** Installs missing packages if it has the rights to; otherwise throws an error with the install command. */
export function ensureDebianPackages(needs: DebianNeed[]): void {
  const missing = needs.filter((need) => !need.isPresent()).map((need) => need.package)
  if (missing.length === 0) return
  const install = ['apt-get', 'install', '-y', '--no-install-recommends', ...missing]
  const asRoot = rootCommand()
  if (!hasProgram('apt-get') || !asRoot) {
    const command = `sudo apt-get update && sudo ${install.join(' ')}`
    throw new Error(`The tests need Debian packages that are missing here. Install them with:\n  ${command}`)
  }
  console.log(`Installing Debian packages: ${missing.join(' ')}`)
  run([...asRoot, 'apt-get', 'update'])
  run([...asRoot, ...install])
  const absent = needs.filter((need) => !need.isPresent()).map((need) => need.package)
  if (absent.length > 0) throw new Error(`Still missing after the installation: ${absent.join(' ')}`)
}

/**
 * The path of a program of a Debian package: the installed one, or else one that is unpacked into the folder.
 * Unpacking does not start servers, as installing the package would, and does not need root.
 */
export function unpackDebianProgram(
  packageName: string,
  program: string,
  folder: string,
  programFolder: 'usr/bin' | 'usr/sbin' = 'usr/bin',
): string {
  const unpacked = join(folder, programFolder, program)
  const installed = findProgram(program) ?? (existsSync(unpacked) ? unpacked : null)
  if (installed) return installed
  mkdirSync(folder, { recursive: true })
  console.log(`Unpacking ${program} of the Debian package ${packageName}`)
  // Root downloads into the folder itself: apt warns if its own user may not write there.
  const args = ['-qq', '-o', 'APT::Sandbox::User=root', 'download', packageName]
  const download = () => spawnSync('apt-get', args, { cwd: folder, stdio: TO_STANDARD_ERROR }).status === 0
  if (!download()) {
    // Downloading needs apt's package lists.
    run([...(rootCommand() ?? []), 'apt-get', 'update'])
    if (!download()) throw new Error(`The Debian package ${packageName} could not be downloaded.`)
  }
  for (const archive of readdirSync(folder).filter((name) => name.endsWith('.deb'))) {
    const extract = `dpkg-deb --fsys-tarfile "$0" | tar --extract --directory "$1" "./$2"`
    run(['sh', '-c', extract, join(folder, archive), folder, join(programFolder, program)])
    rmSync(join(folder, archive))
  }
  return unpacked
}

/** The prefix that runs a command as root without a prompt; null if we have no such rights. */
function rootCommand(): string[] | null {
  const asRoot = ['env', 'DEBIAN_FRONTEND=noninteractive']
  if (process.getuid?.() === 0) return asRoot
  const sudo = spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' })
  return sudo.status === 0 ? ['sudo', '-n', ...asRoot] : null
}

function run([program, ...args]: string[]): void {
  const { status } = spawnSync(program!, args, { stdio: TO_STANDARD_ERROR })
  if (status !== 0) throw new Error(`This command failed: ${[program, ...args].join(' ')}`)
}
