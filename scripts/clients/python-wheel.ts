import { hash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type Zippable, zipSync } from 'fflate'
import { parse } from 'smol-toml'

/** The parts of pyproject.toml that a wheel states. */
interface PythonProject {
  name: string
  description: string
  readme: string
  license: string
  'requires-python': string
  keywords: string[]
  classifiers: string[]
  dependencies: string[]
  'optional-dependencies': Record<string, string[]>
  scripts: Record<string, string>
}

export interface Wheel {
  fileName: string
  bytes: Uint8Array
}

/** The oldest time that a zip file can state: equal sources make equal bytes. */
const OLDEST_ZIP_TIME = new Date(1980, 0, 1)

/**
 * Makes the wheel of the Python client. A wheel of pure Python is a zip file with a list of checksums, and is made here
 * so that a clone of the repository needs neither Python nor a download for it. A test compares it with the one that
 * hatchling builds.
 */
export function buildWheel(project: string): Wheel {
  const { project: described } = parse(readFileSync(join(project, 'pyproject.toml'), 'utf8')) as unknown as {
    project: PythonProject
  }
  const versionFile = readFileSync(join(project, 'src', 'wayleave', '_version.py'), 'utf8')
  const version = /__version__ = "([^"]+)"/.exec(versionFile)![1]!
  const info = `${described.name}-${version}.dist-info`
  const files: [path: string, bytes: Uint8Array][] = sourceFiles(project)
  const add = (name: string, text: string) => files.push([`${info}/${name}`, Buffer.from(text)])
  add('METADATA', metadata(described, version, readFileSync(join(project, described.readme), 'utf8')))
  add('WHEEL', 'Wheel-Version: 1.0\nGenerator: wayleave\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
  const scripts = Object.entries(described.scripts).map(([name, target]) => `${name} = ${target}\n`)
  add('entry_points.txt', `[console_scripts]\n${scripts.join('')}`)
  add('licenses/LICENSE', readFileSync(join(project, 'LICENSE'), 'utf8'))
  add('RECORD', `${files.map(recordLine).join('')}${info}/RECORD,,\n`)
  const entries: Zippable = {}
  for (const [path, bytes] of files) entries[path] = [bytes, { mtime: OLDEST_ZIP_TIME }]
  return { fileName: `${described.name}-${version}-py3-none-any.whl`, bytes: zipSync(entries, { level: 9 }) }
}

function sourceFiles(project: string): [string, Uint8Array][] {
  const source = join(project, 'src')
  return globSync(join(source, 'wayleave', '**', '*.{py,typed}'))
    .sort()
    .map((file) => [relative(source, file), readFileSync(file)])
}

/** The core metadata of the package, which pip reads. */
function metadata(project: PythonProject, version: string, readme: string): string {
  const extras = Object.entries(project['optional-dependencies'])
  const lines = [
    'Metadata-Version: 2.4',
    `Name: ${project.name}`,
    `Version: ${version}`,
    `Summary: ${project.description}`,
    `License-Expression: ${project.license}`,
    'License-File: LICENSE',
    `Keywords: ${project.keywords.join(',')}`,
    ...project.classifiers.map((classifier) => `Classifier: ${classifier}`),
    `Requires-Python: ${project['requires-python']}`,
    ...project.dependencies.map((requirement) => `Requires-Dist: ${requirement}`),
    ...extras.flatMap(([extra, requirements]) => [
      `Provides-Extra: ${extra}`,
      ...requirements.map((requirement) => `Requires-Dist: ${requirement}; extra == '${extra}'`),
    ]),
    'Description-Content-Type: text/markdown',
  ]
  return `${lines.join('\n')}\n\n${readme}`
}

function recordLine([path, bytes]: [string, Uint8Array]): string {
  return `${path},sha256=${hash('sha256', bytes, 'base64url')},${bytes.length}\n`
}
