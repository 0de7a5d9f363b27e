import { join } from 'node:path'
import { unpackDebianProgram } from './debian.ts'

const root = join(import.meta.dirname, '../..')

/** The path of promtool, Prometheus's checker for alerting rules. */
export function ensurePromtool(): string {
  return unpackDebianProgram('prometheus', 'promtool', join(root, '.cache', 'prometheus'))
}

/** The path of Prometheus itself. */
export function ensurePrometheus(): string {
  return unpackDebianProgram('prometheus', 'prometheus', join(root, '.cache', 'prometheus'))
}
