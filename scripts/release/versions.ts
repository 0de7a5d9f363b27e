import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const VERSION = String.raw`\d+\.\d+\.\d+(?:-[\w.]+)?`

/** Where the version number stands. The first group of each pattern is what precedes it. */
const places: [files: string, pattern: RegExp][] = [
  ['package.json', new RegExp(`(^  "version": ")(${VERSION})`, 'gm')],
  [
    '{contract,geodata,query,server,client-js,console,demo,bench,drills}/package.json',
    new RegExp(`(^  "version": "|^    "@wayleave/[a-z]+": ")(${VERSION})`, 'gm'),
  ],
  ['client-python/src/wayleave/_version.py', new RegExp(`(__version__ = ")(${VERSION})`, 'g')],
  ['ops/kubernetes/deployment.yaml', new RegExp(`(image: wayleave:)(${VERSION})`, 'g')],
  ['SECURITY.md', new RegExp(`(\\(that of )(${VERSION})(?=\\))`, 'g')],
  ['docs/operating.md', new RegExp(`(\\./wayleave-)(${VERSION})(?=\\.tgz)`, 'g')],
  [
    '{client-python/README.md,docs/python.md}',
    new RegExp(`(wayleave-)(${VERSION})(?=-py3-none-any\\.whl)`, 'g'),
  ],
  ['{client-js/README.md,docs/javascript.md}', new RegExp(`(wayleave-client-)(${VERSION})(?=\\.tgz)`, 'g')],
]

export interface VersionPlace {
  file: string
  version: string
}

/** Every place that states the version of the project. */
export function readVersions(root: string): VersionPlace[] {
  return places.flatMap(([files, pattern]) =>
    globSync(files, { cwd: root })
      .sort()
      .flatMap((file) => {
        const matches = [...readFileSync(join(root, file), 'utf8').matchAll(pattern)]
        if (matches.length === 0) throw new Error(`${file} states no version.`)
        return matches.map((match) => ({ file, version: match[2]! }))
      }),
  )
}

/** The one version of the project. Throws if two places differ. */
export function commonVersion(root: string): string {
  const stated = readVersions(root)
  const { version } = stated[0]!
  const others = stated.filter((place) => place.version !== version)
  if (others.length > 0) {
    const list = others.map((place) => `${place.file} has ${place.version}`).join(', ')
    throw new Error(`The versions differ: package.json has ${version}, but ${list}.`)
  }
  return version
}

export function writeVersion(root: string, version: string): void {
  if (!new RegExp(`^${VERSION}$`).test(version)) throw new Error(`${version} is not a version such as 0.2.0.`)
  for (const [files, pattern] of places) {
    for (const file of globSync(files, { cwd: root })) {
      const path = join(root, file)
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll(pattern, `$1${version}`))
    }
  }
}
