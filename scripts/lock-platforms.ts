interface LockedPackage {
  version?: string
  integrity?: string
  link?: boolean
  dev?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  engines?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

export type LockedPackages = Record<string, LockedPackage>

const systems = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
]
const processors = [
  'arm',
  'arm64',
  'ia32',
  'loong64',
  'mips64el',
  'ppc64',
  'riscv64',
  's390x',
  'wasm32',
  'x64',
]

/** Adds an entry for each optional platform package that has none, and returns their names. */
export function completeLock(packages: LockedPackages): string[] {
  const missing = missingPlatforms(packages)
  for (const { name, version, dev } of missing) {
    const row = { version, cpu: wordsOf(name, processors), dev, optional: true, os: wordsOf(name, systems) }
    const libc = /musl/.test(name) ? ['musl'] : /linux.*-gnu/.test(name) ? ['glibc'] : undefined
    packages[`node_modules/${name}`] = JSON.parse(JSON.stringify({ ...row, libc }))
  }
  const sorted = Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, 'en'))
  for (const [path, row] of sorted) {
    delete packages[path]
    packages[path] = row
  }
  return missing.map(({ name }) => name)
}

/** Optional packages that name a platform, are required in one exact version, and have no entry. */
export function missingPlatforms(packages: LockedPackages) {
  const missing = new Map<string, { name: string; version: string; dev: true | undefined }>()
  for (const [path, { optionalDependencies = {}, dev }] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      if (packages[`node_modules/${name}`] ?? packages[`${path}/node_modules/${name}`]) continue
      if (!/^\d/.test(version) || wordsOf(name, processors) === undefined) continue
      missing.set(name, { name, version, dev: dev || undefined })
    }
  }
  return [...missing.values()]
}

/** For example `['arm64']` for a name that ends in `-linux-arm64-musl`. */
function wordsOf(name: string, platforms: string[]): string[] | undefined {
  const words = name.split(/[/-]/).filter((word) => platforms.includes(word))
  return words.length > 0 ? words : undefined
}

/**
 * Removes the Node versions that packages ask for. The project runs on the Node that it installs, so the warnings
 * that npm prints when an older Node runs `npm ci` would mislead. Returns the paths of the changed rows.
 */
export function removeEngines(packages: LockedPackages): string[] {
  const paths = packagesWithEngines(packages)
  for (const path of paths) delete packages[path]!.engines
  return paths
}

export function packagesWithEngines(packages: LockedPackages): string[] {
  return Object.keys(packages).filter((path) => path.includes('node_modules/') && packages[path]!.engines)
}

/** The paths of packages that `npm ci` would install without comparing them with a hash. */
export function packagesWithoutHash(packages: LockedPackages): string[] {
  return Object.keys(packages).filter((path) => {
    const { integrity, link } = packages[path]!
    return path.includes('node_modules/') && !integrity && !link
  })
}
