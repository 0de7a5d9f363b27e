import { basename, posix } from 'node:path'
import { importsOf, lineAt, withoutComments } from './imports.ts'

/** Which workspaces a folder may import, and by what names. The arrows never turn back. */
const arrows: Record<string, string[]> = {
  geodata: [],
  server: ['@wayleave/geodata/', '@wayleave/demo/'],
  'client-js': [],
  console: ['@wayleave/client'],
  demo: ['@wayleave/geodata/'],
  bench: ['@wayleave/geodata/', '@wayleave/demo/', '@wayleave/client'],
  scripts: [],
}

/** What a folder reads of another that is no code: documents, and what was built. */
const files: Record<string, string[]> = { server: ['docs/', 'console/dist/'] }

/** Files beside config.ts that may read the environment: they run before it, or in a process of their own. */
const environmentReaders: string[] = ['server/bin/wayleave.js']

/** SQLite's file lock is all it uses; there is no row in it. */
const sqlForOtherEnds = ['server/src/file-lock.ts']

/** The servers beside ours, PostgreSQL and Redis, which the tests need. */
const allowedNames = ['scripts/services.ts']
const emptyNames = /^(utils?|helpers?|common|misc|managers?|services?)$/

export interface Packages {
  /** The folder's own name as a package. */
  name: string
  /** What the folder's own package.json asks for, and the runtime itself. */
  dependencies: string[]
  /** What only tests, scripts and builds may use: the folder's and the root's. */
  devDependencies: string[]
}

/** Every way in which one source file breaks the layout, each as `file:line: sentence`. */
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

/** A name that says nothing about what is inside. */
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
  // What a bundler makes up, and what a page in a test asks its own server for.
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
  // Types that stand alone have a package of their own, which nothing that runs needs.
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
