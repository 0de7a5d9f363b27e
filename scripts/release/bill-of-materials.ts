import { execFileSync } from 'node:child_process'

interface Component {
  'bom-ref': string
  name: string
  purl: string
  properties: { name: string }[]
}

interface Document {
  bomFormat: string
  metadata: { component: Component }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

/**
 * A software bill of materials of what the lock file states, in CycloneDX's JSON, without tools of development. npm is
 * asked for all packages, because with `--omit=dev` it leaves out what a tool of development needs as well.
 */
export function billOfMaterials(root: string): Document {
  const args = [
    'sbom',
    '--sbom-format=cyclonedx',
    '--sbom-type=application',
    '--package-lock-only',
    '--include=dev',
  ]
  const output = execFileSync('npm', args, { cwd: root, encoding: 'utf8', stdio: 'pipe', maxBuffer: 1 << 26 })
  const document: Document = JSON.parse(output)
  const components = document.components.filter((component) => !isTool(component))
  const references = new Set(components.map((component) => component['bom-ref']))
  const program = document.metadata.component
  return {
    ...document,
    // npm takes the name of the folder.
    metadata: { ...document.metadata, component: { ...program, name: 'wayleave' } },
    components,
    dependencies: document.dependencies
      .filter(({ ref }) => references.has(ref) || ref === program['bom-ref'])
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => references.has(other)) })),
  }
}

function isTool({ properties }: Component): boolean {
  return properties.some(({ name }) => name === 'cdx:npm:package:development')
}
