import { execFileSync } from 'node:child_process'

/** A software bill of materials of what the lock file states, in CycloneDX's JSON, without tools of development. */
export function billOfMaterials(root: string): string {
  const args = [
    'sbom',
    '--sbom-format=cyclonedx',
    '--sbom-type=application',
    '--package-lock-only',
    '--omit=dev',
  ]
  return execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 })
}
