import { ADD_ON_NAMES } from '@wayleave/contract/add-ons'
import type { DatasetDetails } from '@wayleave/contract/records'
import { asProblem } from '../../api/problem.ts'
import { count, plural } from '../../words.ts'
import type { Access } from '../access.ts'
import { MAX_FEATURES, type MapSource } from './use-map-source.ts'

/** The sentence below the map: what it shows, and what stands in the way of more. */
export function mapStatus(
  { tiles, rows, sample: freeRows }: Pick<DatasetDetails, 'tiles' | 'rows' | 'sample'>,
  access: Access,
  source: MapSource,
  /** Exact; undefined while it is counted or if that failed, null if it would take too long. */
  { data: inView, isError }: { data: number | null | undefined; isError: boolean },
  /** Whether the map is shown on another site, where sign-in is not possible. */
  isEmbedded = false,
): string {
  if (source.error) return asProblem(source.error).message
  if (source.data === null) return 'Loading the map'
  if (access !== 'all' && freeRows === null) return 'There is no free sample.'
  if (access === 'signed-out') {
    const sample = `The sample, ${plural(source.drawn ?? 0, 'feature')}`
    return isEmbedded ? `${sample} of ${count(rows)}.` : `${sample}. Sign in to see all.`
  }
  if (access === 'locked') {
    return `The sample, ${plural(source.drawn ?? 0, 'feature')}. All of them need the add-on “${ADD_ON_NAMES.GIS_ACCESS}”.`
  }
  const sentence = sentenceOf(inView, isError)
  if (source.drawn === null || source.drawn < MAX_FEATURES) return sentence
  const reason =
    tiles?.state === 'pending' || tiles?.state === 'building'
      ? `the tiles are being built${tiles.progress ? `, ${Math.round(tiles.progress * 100)} %` : ''}`
      : 'the dataset has no tiles'
  return `${sentence}. Only the first ${count(MAX_FEATURES)} are drawn: ${reason}.`
}

function sentenceOf(inView: number | null | undefined, isError: boolean): string {
  if (inView === undefined) return isError ? 'The features in view could not be counted' : 'Counting'
  return inView === null ? 'Many features in view' : `${plural(inView, 'feature')} in view`
}
