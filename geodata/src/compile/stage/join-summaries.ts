import { joinChanges } from '../../geometry/geometry-changes.ts'
import { DEFAULT_LISTED_PROBLEMS, type StageSummary } from './stage.ts'
import type { ColumnProfile } from './staged-column.ts'
import type { PlaceProfile } from './staged-places.ts'
import { joinTexts } from './staged-texts.ts'

/** Merges the summaries of several threads into one, with columns in order of their first occurrence. */
export function joinSummaries(
  summaries: StageSummary[],
  maxProblems = DEFAULT_LISTED_PROBLEMS,
): StageSummary {
  const [first, ...others] = structuredClone(summaries) as [StageSummary, ...StageSummary[]]
  const columns = new Map(first.columns.map((profile) => [profile.staged, profile]))
  for (const other of others) {
    first.rows += other.rows
    first.problems = first.problems.concat(other.problems)
    first.problemCount += other.problemCount
    first.unusableIds += other.unusableIds
    joinPlaces(first.places, other.places)
    joinChanges(first.changes, other.changes)
    first.files.push(...other.files)
    first.runs.push(...other.runs)
    joinTexts(first.texts, other.texts)
    joinProfiles(first.id, other.id)
    for (const profile of other.columns) {
      const joined = columns.get(profile.staged)
      if (joined === undefined) columns.set(profile.staged, profile)
      else joinProfiles(joined, profile)
    }
  }
  first.problems.sort((a, b) => a.row - b.row)
  first.problems.length = Math.min(first.problems.length, maxProblems)
  first.columns = [...columns.values()].sort((a, b) => a.firstRow - b.firstRow || a.firstPlace - b.firstPlace)
  return first
}

function joinProfiles(into: ColumnProfile, other: ColumnProfile): void {
  into.kinds |= other.kinds
  into.present += other.present
  into.blank += other.blank
  into.notFinite += other.notFinite
  into.stagedAs = [...new Set([...into.stagedAs, ...other.stagedAs])]
  if (other.firstRow < into.firstRow) {
    into.firstRow = other.firstRow
    into.firstPlace = other.firstPlace
  }
}

function joinPlaces(into: PlaceProfile, other: PlaceProfile): void {
  into.located += other.located
  into.geometryTypes |= other.geometryTypes
  into.hasGeometry ||= other.hasGeometry
  into.hasShapes ||= other.hasShapes
  into.hasZ ||= other.hasZ
  into.orders.sampled += other.orders.sampled
  into.orders.onLand += other.orders.onLand
  into.orders.onLandExchanged += other.orders.onLandExchanged
  into.bbox = [
    Math.min(into.bbox[0], other.bbox[0]),
    Math.min(into.bbox[1], other.bbox[1]),
    Math.max(into.bbox[2], other.bbox[2]),
    Math.max(into.bbox[3], other.bbox[3]),
  ]
}
