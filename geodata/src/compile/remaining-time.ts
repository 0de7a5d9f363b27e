import type { CompilePhase, CompileProgress } from './compile-options.ts'

const PHASES: readonly CompilePhase[] = ['reading', 'sorting', 'indexing']
/**
 * How long the later phases take, compared with reading, until they are measured: between those of points in
 * GeoParquet, which are read fast, and of polygons in GeoJSON.
 */
const COMPARED_WITH_READING = { reading: 1, sorting: 0.3, indexing: 0.7 } as const
/** Earlier than this, rates are those of a program that is still being loaded. */
const MIN_MS = 2000
const MIN_SHARE = 0.01

/** Estimates when a compilation ends: the current phase by its own rate, later ones by the time that reading took. */
export class RemainingTime {
  readonly #began: number
  /** How long each phase that has ended took, in ms. */
  readonly #took = new Map<CompilePhase, number>()
  #phase: CompilePhase = 'reading'
  #phaseBegan: number

  constructor(now: number) {
    this.#began = now
    this.#phaseBegan = now
  }

  /** The progress with how much of all work is done, and how long the rest takes; null while that is not known. */
  at(progress: CompileProgress, now: number): CompileProgress {
    this.#enter(progress.phase, now)
    const share = shareOf(progress)
    const inPhase = now - this.#phaseBegan
    const reading =
      this.#took.get('reading') ?? (share !== null && share >= MIN_SHARE ? inPhase / share : null)
    if (reading === null || now - this.#began < MIN_MS) return { ...progress, ...NOTHING }
    const expected = reading * COMPARED_WITH_READING[this.#phase]
    const ownRest = share === null || share < MIN_SHARE ? expected - inPhase : inPhase / share - inPhase
    const later = PHASES.slice(PHASES.indexOf(this.#phase) + 1)
    const rest =
      Math.max(0, ownRest) + later.reduce((sum, phase) => sum + reading * COMPARED_WITH_READING[phase], 0)
    const elapsed = now - this.#began
    return {
      ...progress,
      fraction: Math.round((elapsed / (elapsed + rest)) * 1000) / 1000,
      remainingSeconds: Math.ceil(rest / 1000),
    }
  }

  #enter(phase: CompilePhase, now: number): void {
    if (phase === this.#phase) return
    this.#took.set(this.#phase, now - this.#phaseBegan)
    this.#phase = phase
    this.#phaseBegan = now
  }
}

const NOTHING = { fraction: null, remainingSeconds: null }

/** How much of its phase is done. */
function shareOf({ phase, bytesRead, totalBytes, indexedRows, rows }: CompileProgress): number | null {
  if (phase === 'reading') return totalBytes ? Math.min(1, bytesRead / totalBytes) : null
  return indexedRows === undefined || rows === 0 ? null : indexedRows / rows
}
