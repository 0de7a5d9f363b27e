import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Bind } from './input-files.ts'
import { gdalFolders } from './minimal-environment.ts'

/** The folder that contains the packages of the program: a checkout, or the installed program. */
const ROOT = rootAbove(import.meta.dirname)
/** What the compiler imports. Other folders, such as a data folder beside them, stay invisible. */
const PROGRAM_ENTRIES = ['contract', 'geodata', 'lib', 'vendor', 'package.json']

/** Where programs, their libraries and their tables are installed. */
const SYSTEM_FOLDERS = [
  ...['/bin', '/lib', '/lib32', '/lib64', '/usr/bin', '/usr/lib', '/usr/lib32', '/usr/lib64', '/usr/libexec'],
  ...['/usr/share', '/usr/local/bin', '/usr/local/lib', '/usr/local/share', '/nix/store'],
  // The places of shared libraries.
  ...['/etc/ld.so.cache', '/etc/alternatives'],
]

let program: Promise<Bind[]> | null = null

/** The files of the program itself and of the Node that runs it. */
export function programBinds(): Promise<Bind[]> {
  program ??= findProgram()
  return program
}

async function findProgram(): Promise<Bind[]> {
  const paths = PROGRAM_ENTRIES.map((name) => join(ROOT, name))
  // Where Node looks for packages; those of an installed program may be beside it.
  for (let folder = ROOT; folder !== '/'; folder = dirname(folder)) paths.push(join(folder, 'node_modules'))
  return existing([...paths, process.execPath])
}

/** The system's programs and libraries, and an installation of GDAL in other places. */
export async function systemBinds(gdal: string | null): Promise<Bind[]> {
  const paths = [...SYSTEM_FOLDERS]
  if (gdal?.includes('/')) paths.push(dirname(resolve(gdal)))
  return existing([...paths, ...gdalFolders()])
}

/** A symbolic link, such as /bin, is bound as the folder that it leads to. */
async function existing(paths: string[]): Promise<Bind[]> {
  const binds: Bind[] = []
  for (const target of paths) {
    const source = await realpath(target).catch(() => null)
    if (source !== null) binds.push({ source, target })
  }
  return binds
}

/** This file may be part of a bundle in another folder. */
function rootAbove(folder: string): string {
  if (existsSync(join(folder, 'geodata', 'src')) || folder === dirname(folder)) return folder
  return rootAbove(dirname(folder))
}
