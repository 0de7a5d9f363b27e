import { delimiter, join, resolve } from 'node:path'

/** Where the libraries and tables of an installation of GDAL are, if not at their usual places. */
const GDAL_VARIABLES = ['LD_LIBRARY_PATH', 'GDAL_DATA', 'PROJ_DATA', 'PROJ_LIB', 'GDAL_DRIVER_PATH']

/** Settings of the runtime that hold no secrets. */
const RUNTIME_VARIABLES = ['UV_THREADPOOL_SIZE', 'GLIBC_TUNABLES']

export function gdalFolders(): string[] {
  const values = GDAL_VARIABLES.map((name) => process.env[name] ?? '')
  return values.flatMap((value) => value.split(delimiter)).filter((path) => path.startsWith('/'))
}

/** Where Node keeps the compiled modules of sandboxed processes, which can only read them; null if it keeps none. */
export function moduleCache(): string | null {
  const folder = process.env['NODE_COMPILE_CACHE']
  return folder ? join(resolve(folder), 'sandbox') : null
}

/**
 * The environment of a process that reads a file of somebody else. That of the service contains the password of the
 * mail server, the keys of the bucket and the key that encrypts signing keys.
 */
export function minimalEnvironment(folder: string): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    LC_ALL: 'C.UTF-8',
    TZ: 'UTC',
    HOME: folder,
    TMPDIR: folder,
  }
  for (const name of [...GDAL_VARIABLES, ...RUNTIME_VARIABLES]) {
    const value = process.env[name]
    if (value !== undefined) environment[name] = value
  }
  const cache = moduleCache()
  if (cache !== null) environment['NODE_COMPILE_CACHE'] = cache
  return environment
}

/** The environment of processes that read snapshots: that of the service without its settings and secrets. */
export function childEnvironment(): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'TMPDIR', 'NODE_OPTIONS', 'NODE_COMPILE_CACHE', ...RUNTIME_VARIABLES]
  const environment: NodeJS.ProcessEnv = { LC_ALL: 'C.UTF-8', TZ: 'UTC' }
  for (const name of names) {
    const value = process.env[name]
    if (value !== undefined) environment[name] = value
  }
  return environment
}
