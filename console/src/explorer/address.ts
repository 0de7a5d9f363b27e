import {
  DEFAULT_LOOK,
  LOOK_PARAMETERS,
  type MapLook,
  readLook,
  writeLook,
} from '@wayleave/contract/map-style'
import type { DatasetDetails } from '@wayleave/contract/records'
import { useCallback, useMemo } from 'react'
import { useParameters } from '../components/page/use-parameters.ts'
import type { Access } from './access.ts'
import { sizeColumns } from './map/color-columns.ts'
import type { ClassRows } from './map/use-scale.ts'
import { isSpread, usualColor } from './worth.ts'

export interface MapView {
  longitude: number
  latitude: number
  zoom: number
}

export const TABS = ['table', 'charts', 'code', 'download', 'columns', 'versions'] as const
export type Tab = (typeof TABS)[number]

/** What the page's address says: everything that a shared link shows again. */
export interface Address {
  /** CQL2 text; empty for all rows. */
  filter: string
  view: MapView | null
  tab: Tab
  /** A column name, with `-` before it for descending; empty for the order of the dataset. */
  sort: string
  /** The columns of the table that are not shown. */
  hidden: string[]
  /** The charts as texts; null for a choice by the page. */
  charts: string[] | null
  /** Colors, sizes, labels and how the map is drawn. */
  look: MapLook
  /** Whether the user has chosen the columns of colors and sizes, or none; otherwise the page chooses. */
  isStyled: boolean
  /** The column of the time slider; empty for none. */
  time: string
  /** The rows whose values make the classes of the colors and sizes. */
  classes: ClassRows
  /** The id of the selected feature. */
  selected: string | null
  /** Whether the map fills the window. */
  isFull: boolean
}

export function readAddress(parameters: URLSearchParams): Address {
  const text = (name: string) => parameters.get(name) ?? ''
  const tab = text('tab') as Tab
  return {
    filter: text('filter'),
    view: readView(text('view')),
    tab: TABS.includes(tab) ? tab : 'table',
    sort: text('sort'),
    hidden: readNames(text('hidden')) ?? [],
    charts: parameters.has('charts') ? (readNames(text('charts')) ?? []) : null,
    look: readLook(text),
    isStyled: parameters.has('color') || parameters.has('size'),
    time: text('time'),
    classes: text('classes') === 'all' ? 'all' : 'filtered',
    selected: parameters.get('selected'),
    isFull: text('map') === 'full',
  }
}

/** A change of some parts of the address, and of some parts of the look. */
export type AddressChange = Partial<Omit<Address, 'look' | 'isStyled'>> & { look?: Partial<MapLook> }

/**
 * The look of the map: until the user has chosen, with colors by a column that tells much, and points that are sized by
 * it too. Numbers that spread have continuous colors, so that the largest differ from each other.
 */
export function shownLook({ look, isStyled }: Address, dataset: DatasetDetails, access: Access): MapLook {
  if (isStyled) return look
  const color = usualColor(dataset, access)
  if (!sizeColumns(dataset).includes(color)) return { ...look, color }
  const isContinuous = isSpread(color, dataset) && look.classing === DEFAULT_LOOK.classing
  return { ...look, color, size: color, ...(isContinuous && { classing: { kind: 'continuous' } }) }
}

/** A change of the look that was shown: who changes a part of the colors or sizes keeps the others as they were. */
export function lookChange(shown: MapLook, change: Partial<MapLook>): Partial<MapLook> {
  const { color, size, classing } = shown
  if (change.color !== undefined) return { size, ...change }
  if (change.classing !== undefined) return { color, size, ...change }
  return change.size !== undefined ? { color, classing, ...change } : change
}

/** Changes some parameters and leaves the others, also those of other pages, as they are. */
export function writeAddress(parameters: URLSearchParams, change: AddressChange): URLSearchParams {
  const changed = new URLSearchParams(parameters)
  const set = (name: string, value: string | null | undefined) => {
    if (value) changed.set(name, value)
    else changed.delete(name)
  }
  for (const name of ['filter', 'sort', 'time', 'selected'] as const) {
    if (name in change) set(name, change[name])
  }
  const texts = change.look ? writeLook(change.look) : {}
  for (const name of LOOK_PARAMETERS) if (name in texts) set(name, texts[name])
  // No colors are a choice, too.
  if (change.look?.color === '') changed.set('color', '')
  if ('view' in change) set('view', change.view && viewText(change.view))
  if ('tab' in change) set('tab', change.tab === 'table' ? null : change.tab)
  if ('isFull' in change) set('map', change.isFull ? 'full' : null)
  if ('classes' in change) set('classes', change.classes === 'all' ? 'all' : null)
  if ('hidden' in change) set('hidden', writeNames(change.hidden ?? []))
  if ('charts' in change) {
    if (change.charts) changed.set('charts', writeNames(change.charts))
    else changed.delete('charts')
  }
  return changed
}

/** The address as state; a change has only the parts that change. */
export function useAddress(): [Address, (change: AddressChange) => void] {
  const [parameters, change] = useParameters()
  const changeParts = useCallback(
    (parts: AddressChange) => change((current) => writeAddress(current, parts)),
    [change],
  )
  return [useMemo(() => readAddress(parameters), [parameters]), changeParts]
}

function readView(text: string): MapView | null {
  const [longitude, latitude, zoom] = text.split(',').map(Number)
  const isValid = [longitude, latitude, zoom].every((value) => Number.isFinite(value))
  return isValid && text !== '' ? { longitude: longitude!, latitude: latitude!, zoom: zoom! } : null
}

/** More digits for deeper zooms: half a pixel is enough. */
function viewText({ longitude, latitude, zoom }: MapView): string {
  const digits = Math.max(1, Math.ceil((zoom * Math.LN2 + Math.log(512 / 360)) / Math.LN10) + 1)
  return `${Number(longitude.toFixed(digits))},${Number(latitude.toFixed(digits))},${Number(zoom.toFixed(2))}`
}

/** Column names may contain commas; those names are escaped. */
function writeNames(names: string[]): string {
  return names.map((name) => name.replace(/[\\,]/g, '\\$&')).join(',')
}

function readNames(text: string): string[] | null {
  const names = text.match(/(?:[^\\,]|\\.)+/gsu)
  return names?.map((name) => name.replace(/\\(.)/gsu, '$1')) ?? null
}
