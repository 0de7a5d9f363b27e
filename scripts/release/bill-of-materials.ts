import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type LockedPackage, productionPackages } from './locked-packages.ts'

/**
 * A software bill of materials of what the lock file states, in CycloneDX's JSON, without tools of development. Not by
 * `npm sbom --omit=dev`, which leaves out what a tool of development needs as well.
 */
export function billOfMaterials(root: string): string {
  const packages = productionPackages(root)
  const byPath = new Map(packages.map((entry) => [entry.path, entry]))
  const { name, version, license } = JSON.parse(readFileSync(join(root, 'server', 'package.json'), 'utf8'))
  const program = { path: '', name, version, license, integrity: '', dependencies: [] }
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: serialNumber(root),
    version: 1,
    metadata: { component: { ...component(program), type: 'application' } },
    components: packages.map(component),
    dependencies: [
      { ref: purl(program), dependsOn: [...new Set(packages.filter(isDirect).map(purl))] },
      ...packages.map((entry) => ({ ref: reference(entry), dependsOn: dependenciesOf(entry, byPath) })),
    ],
  }
  return `${JSON.stringify(document, null, 1)}\n`
}

function component(entry: LockedPackage) {
  const { name, version, license, integrity } = entry
  const [algorithm, digest] = integrity.split('-')
  const hashes = digest
    ? [{ alg: algorithm!.replace('sha', 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') }]
    : []
  return {
    type: 'library',
    'bom-ref': reference(entry),
    name,
    version,
    purl: purl(entry),
    ...(license
      ? { licenses: [/[ ()]/.test(license) ? { expression: license } : { license: { id: license } }] }
      : {}),
    ...(hashes.length > 0 ? { hashes } : {}),
  }
}

/** The package address, which is unique except for copies of one version in several folders. */
function purl({ name, version }: Pick<LockedPackage, 'name' | 'version'>): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

function reference(entry: LockedPackage): string {
  return isDirect(entry) ? purl(entry) : `${purl(entry)}#${entry.path}`
}

/** Whether it is in the first folder in which packages are looked for. */
function isDirect({ path, name }: LockedPackage): boolean {
  return path === '' || path === `node_modules/${name}`
}

/** As Node resolves them: in the package's own folder, then in each folder above it. */
function dependenciesOf(entry: LockedPackage, byPath: Map<string, LockedPackage>): string[] {
  return entry.dependencies.flatMap((name) => {
    for (
      let folder = entry.path;
      ;
      folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))
    ) {
      const dependency = byPath.get(`${folder}${folder === '' ? '' : '/'}node_modules/${name}`)
      if (dependency) return [reference(dependency)]
      if (folder === '') return []
    }
  })
}

/** The same for the same lock file. */
function serialNumber(root: string): string {
  const digest = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  const parts = [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `8${digest.slice(17, 20)}`,
  ]
  return `urn:uuid:${[...parts, digest.slice(20, 32)].join('-')}`
}
