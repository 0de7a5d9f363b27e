import { join } from 'node:path'
import { unpackDebianProgram } from './debian.ts'

const root = join(import.meta.dirname, '..')

/** The path of Prometheus's own checker of alerting rules. */
export function ensurePromtool(): string {
  return unpackDebianProgram('prometheus', 'promtool', join(root, '.cache', 'prometheus'))
}
