import { basename, posix } from 'node:path'
import { importsOf, lineAt, withoutComments } from './imports.ts'

/** The workspaces that a folder may import, and by what names. There are no cycles. */
const arrows: Record<string, string[]> = {
  geodata: [],
  server: ['@wayleave/geodata/', '@wayleave/demo/'],
  'client-js': [],
  console: ['@wayleave/client'],
  demo: ['@wayleave/geodata/'],
  bench: ['@wayleave/geodata/', '@wayleave/demo/', '@wayleave/client'],
  scripts: [],
}

/** Files of other folders that a folder reads and that are not code: documents and build output. */
const files: Record<string, string[]> = { server: ['docs/', 'console/dist/'] }

/** Files besides config.ts that may read the environment: they run before it, or in their own process. */
const environmentReaders: string[] = ['server/bin/wayleave.js']

/** It only uses SQLite's file lock and stores no rows. */
const sqlForOtherEnds = ['server/src/locks/file-lock.ts']

/** Named after the servers that the tests need, PostgreSQL and Redis. */
const allowedNames = ['scripts/services.ts']
const emptyNames = /^(utils?|helpers?|common|misc|managers?|services?)$/

export interface Packages {
  /** The package name of the folder. */
  name: string
  /** The dependencies in the folder's own package.json, and the runtime itself. */
  dependencies: string[]
  /** Packages that only tests, scripts and builds may use: the folder's and the root's. */
  devDependencies: string[]
}

/** All violations of the layout rules in one source file, each as `file:line: sentence`. */
export function offencesOf(file: string, source: string, packages: Packages): string[] {
  const at = (line: number, sentence: string) => `${file}:${line}: ${sentence}`
  const offences = importsOf(source).flatMap(({ specifier, line }) =>
    [crossesFolders(file, specifier, packages), crossesLayers(file, specifier)]
      .filter((sentence) => sentence !== null)
      .map((sentence) => at(line, sentence)),
  )
  if (!mayReadEnvironment(file)) {
    const code = withoutComments(source)
    for (const match of code.matchAll(/\bprocess\.env\b/g)) {
      offences.push(at(lineAt(code, match.index), 'only config.ts reads the environment'))
    }
  }
  return offences
}

/** Whether a file has a name without meaning. */
export function hasEmptyName(file: string): boolean {
  if (allowedNames.includes(file)) return false
  const words = file.split(/[/.-]/)
  return words.some((word) => emptyNames.test(word))
}

function crossesFolders(file: string, specifier: string, packages: Packages): string | null {
  const folder = file.split('/')[0]!
  if (specifier.startsWith('.')) {
    const target = posix.join(posix.dirname(file), specifier)
    const within =
      `${target}/`.startsWith(`${folder}/`) || files[folder]?.some((name) => target.startsWith(name))
    return within || isTest(file) ? null : `${specifier} leads out of ${folder}`
  }
  // Virtual modules of a bundler, and URLs that a page in a test requests from its own server.
  if (/^(node:|virtual:|\/)/.test(specifier)) return null
  if (specifier.startsWith('@wayleave/') || specifier === 'wayleave') {
    const allowed = [...arrows[folder]!, ...(isTest(file) ? [packages.name] : [])].some((name) =>
      name.endsWith('/') ? specifier.startsWith(name) : specifier === name,
    )
    return allowed ? null : `${folder} may not import ${specifier}`
  }
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
  const known = isForDevelopment(file)
    ? [...packages.dependencies, ...packages.devDependencies]
    : packages.dependencies
  // Type-only packages are in `@types`; nothing needs them at run time.
  const types = packages.devDependencies.includes(`@types/${name}`)
  return types || known.includes(name) ? null : `${name} is no dependency of ${folder}`
}

function crossesLayers(file: string, specifier: string): string | null {
  if (!file.startsWith('server/src/') || isForDevelopment(file)) return null
  const name = basename(file, '.ts')
  const within = (...folders: string[]) => folders.some((folder) => file.startsWith(`server/src/${folder}/`))
  if (/^(fastify|@fastify\/.*)$/.test(specifier)) {
    const isRoute = name === 'routes' || name.endsWith('-routes') || within('access', 'http', 'ogc')
    return isRoute ? null : `only routes, access/, http/ and ogc/ know Fastify, by ${specifier}`
  }
  if (/^(kysely|pg|node:sqlite)(\/.*)?$/.test(specifier)) {
    const isStore =
      name === 'store' || name.endsWith('-store') || within('database') || sqlForOtherEnds.includes(file)
    return isStore ? null : `only stores and database/ know SQL, by ${specifier}`
  }
  return null
}

function mayReadEnvironment(file: string): boolean {
  if (isForDevelopment(file) || environmentReaders.includes(file)) return true
  return file === 'server/src/config.ts'
}

/** Tests may read the repository, and import the package they test by its name. */
function isTest(file: string): boolean {
  return /\.test\.tsx?$/.test(file) || file.includes('/test/')
}

/** Code that is never part of the running service or of a published client. */
function isForDevelopment(file: string): boolean {
  const [folder, second] = file.split('/')
  if (folder === 'scripts' || folder === 'bench' || second === 'scripts') return true
  if (/\/(testing|test)\//.test(file)) return true
  const name = basename(file)
  return /\.test\.ts$|^test-|-arbitrary\.ts$/.test(name) || /(^|\.)config\.(ts|js|mjs)$/.test(name)
}
