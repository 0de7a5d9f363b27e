import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

export interface BuildFacts {
  commit: string
  version: string
  npmVersion: string
}

/**
 * States from what the files were built, as a SLSA provenance in an in-toto statement. It is not signed: it tells what
 * to build again to compare.
 */
export function provenance(
  root: string,
  files: string[],
  { commit, version, npmVersion }: BuildFacts,
): string {
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map((file) => ({ name: basename(file), digest: { sha256: sha256(file) } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'npm run release',
        externalParameters: { version },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: sha256(join(root, 'package-lock.json')) } },
        ],
      },
      runDetails: {
        builder: { id: 'local', version: { node: process.versions.node, npm: npmVersion } },
      },
    },
  }
  return `${JSON.stringify(statement, null, 2)}\n`
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}
