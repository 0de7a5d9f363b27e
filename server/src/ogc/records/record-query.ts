import { type BoxQuery, readDatetime } from '@wayleave/query'
import { invalidInput } from '../../base/problem.ts'
import type { ListedDataset } from '../../data/catalog/dataset.ts'
import { foldText } from '../../data/catalog/search-datasets.ts'
import { readBox } from '../request/box-query.ts'
import type { CrsList } from '../request/crs-list.ts'
import { parameterOf, type QueryPair, refuseUnknown } from '../request/query-string.ts'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1000
const DAY_MS = 86_400_000

/** The parameters that the class Record Core Query Parameters demands, and ours for paging. */
const RECORD_PARAMETERS = ['f', 'limit', 'bbox', 'datetime', 'q', 'type', 'ids', 'externalIds', 'cursor']

/** The type of all records. */
export const RECORD_TYPE = 'dataset'

export interface RecordQuery {
  limit: number
  /** The table of the last record of the page before. */
  after: string
  matches: (dataset: ListedDataset, base: string) => boolean
}

export function readRecordQuery(pairs: readonly QueryPair[], crsList: CrsList): RecordQuery {
  refuseUnknown(pairs, RECORD_PARAMETERS)
  const value = (name: string) => parameterOf(pairs, name)
  const bbox = value('bbox')
  const box = bbox === undefined ? null : readBox(bbox, crsList.common[0]!)
  const datetime = value('datetime')
  const period = datetime === undefined ? null : readPeriod(datetime)
  const terms = readTerms(value('q'))
  const types = list(value('type'))
  const ids = list(value('ids'))
  const externalIds = list(value('externalIds'))
  return {
    limit: readLimit(value('limit')),
    after: readCursor(value('cursor')),
    matches: (dataset, base) =>
      (box === null || meetsBox(dataset, box)) &&
      (period === null || meetsPeriod(dataset, period)) &&
      (terms === undefined || hasTerm(dataset, terms)) &&
      (types === undefined || types.includes(RECORD_TYPE)) &&
      (ids === undefined || ids.includes(dataset.table)) &&
      (externalIds === undefined || externalIds.includes(externalIdOf(dataset, base))),
  }
}

/** The address of the dataset's page, which other catalogues know it by. */
export function externalIdOf({ table }: ListedDataset, base: string): string {
  return `${base}/datasets/${table}`
}

export function cursorAfter({ table }: ListedDataset): string {
  return Buffer.from(table).toString('base64url')
}

function readCursor(text: string | undefined): string {
  if (text === undefined) return ''
  const table = Buffer.from(text, 'base64url').toString()
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(table)) throw invalidInput('cursor', 'is not a cursor of this list')
  return table
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (limit < 1) throw invalidInput('limit', 'must be a whole number from 1')
  return Math.min(limit, MAX_LIMIT)
}

/** Values separated by commas; undefined if the parameter is missing. */
function list(text: string | undefined): string[] | undefined {
  return text
    ?.split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '')
}

/** All datasets are searched for each of them. */
const MAX_TERMS = 20

function readTerms(text: string | undefined): RegExp[] | undefined {
  const phrases = list(text)
  if (phrases && phrases.length > MAX_TERMS) throw invalidInput('q', `must be at most ${MAX_TERMS} texts`)
  return phrases?.map(phrasePattern)
}

function hasTerm(dataset: ListedDataset, terms: readonly RegExp[]): boolean {
  const texts = textsOf(dataset)
  return terms.some((term) => texts.some((text) => term.test(text)))
}

/** Words separated by spaces must follow each other, with any white space between them. */
function phrasePattern(phrase: string): RegExp {
  const words = foldText(phrase)
    .split(/\s+/)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(words.join('\\s+'))
}

/** The catalog replaces a dataset's object when anything about it changes. */
const foldedTexts = new WeakMap<ListedDataset, string[]>()

function textsOf(dataset: ListedDataset): string[] {
  let texts = foldedTexts.get(dataset)
  if (texts === undefined) {
    const { table, title, description, keywords, attribution } = dataset
    texts = [table, title, description, attribution, ...keywords].map(foldText)
    foldedTexts.set(dataset, texts)
  }
  return texts
}

/** A dataset without geometry matches every box (Features, Part 1, requirement fc-bbox-response, C). */
function meetsBox({ manifest }: ListedDataset, { box }: BoxQuery): boolean {
  const { bbox } = manifest
  if (bbox === null) return true
  const [west, south, east, north] = box
  if (bbox[1] > north || bbox[3] < south) return false
  return spansOf(bbox[0], bbox[2]).some(([start, end]) =>
    spansOf(west, east).some(([from, to]) => start <= to && end >= from),
  )
}

/** The longitudes of a box; one that crosses the antimeridian has two spans. */
function spansOf(west: number, east: number): [number, number][] {
  return west <= east
    ? [[west, east]]
    : [
        [west, 180],
        [-180, east],
      ]
}

interface Period {
  start: number
  end: number
}

function readPeriod(text: string): Period {
  // Throws if the text is not valid.
  readDatetime(text, null)
  const [from, to = from] = text.split('/')
  return {
    start: isOpen(from!) ? -Infinity : Date.parse(from!),
    end: isOpen(to!) ? Infinity : Date.parse(to!) + (/^[\d-]{10}$/.test(to!) ? DAY_MS - 1 : 0),
  }
}

const isOpen = (end: string) => end === '' || end === '..'

/** A dataset without a time matches every time (Features, Part 1, requirement fc-time-response, C). */
function meetsPeriod({ manifest: { timeExtent } }: ListedDataset, { start, end }: Period): boolean {
  if (!timeExtent) return true
  const last = Date.parse(timeExtent[1]) + (/^[\d-]{10}$/.test(timeExtent[1]) ? DAY_MS - 1 : 0)
  return Date.parse(timeExtent[0]) <= end && last >= start
}
