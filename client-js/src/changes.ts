import type { Progress } from './deliver.ts'
import { WayleaveError } from './errors.ts'
import type { Feature } from './feature.ts'
import { CALL_OPTIONS, type CallOptions } from './transport.ts'

export interface ChangesOptions extends CallOptions {
  /** The version that the caller has. */
  since: number
  /** The version that the caller wants; the current one without it. */
  to?: number | undefined
  /** The most credits that it may cost; if it costs more, it fails with 402 `price-higher`. */
  maxCredits?: number | undefined
  onProgress?: ((progress: Progress) => void) | undefined
}

export const CHANGES_OPTIONS: string[] = ['since', 'to', 'maxCredits', 'onProgress', ...CALL_OPTIONS]

/** A feature that differs between two versions. */
export interface Change<P = Record<string, unknown>> {
  change: 'added' | 'removed' | 'changed'
  id: string | number
  /** The feature as it is in the later version, or as it was if it was removed. */
  feature: Feature<P>
  /** The feature as it was, if it was changed. */
  before?: Feature<P>
}

export function changesPath(table: string, { since, to }: ChangesOptions): string {
  for (const [name, version] of Object.entries({ since, to })) {
    if (version !== undefined && !(Number.isSafeInteger(version) && version > 0))
      throw new WayleaveError(`changes(): ${name} is the number of a version, such as 1.`)
  }
  if (since === undefined)
    throw new WayleaveError('changes(): say which version you have, such as { since: 1 }.')
  const last = to === undefined ? '' : `&to=${to}`
  return `/v1/dataset/${encodeURIComponent(table)}/changes?from=${since}${last}`
}

/** Lines of JSON that may begin in one chunk and end in another. */
export function changesOf<P>(chunks: readonly Uint8Array[]): Change<P>[] {
  const decoder = new TextDecoder()
  const changes: Change<P>[] = []
  let rest = ''
  const take = (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) if (line !== '') changes.push(JSON.parse(line) as Change<P>)
  }
  for (const chunk of chunks) take(decoder.decode(chunk, { stream: true }))
  take(`${decoder.decode()}\n`)
  return changes
}
