import '../styles/explorer.css'
import '../styles/full-map.css'
import type { MapLook } from '@wayleave/contract/map-style'
import type { DatasetDetails } from '@wayleave/contract/records'
import { lazy, type ReactNode, Suspense, useCallback, useMemo, useRef, useState } from 'react'
import { asProblem } from '../api/problem.ts'
import { Skeleton } from '../components/page/skeleton.tsx'
import { Tabs } from '../components/tabs.tsx'
import { type Exploration, useAccess } from './access.ts'
import { AccessBanner } from './access-banner.tsx'
import {
  type Address,
  type AddressChange,
  lookChange,
  type MapView,
  shownLook,
  type Tab,
  useAddress,
} from './address.ts'
import { picked } from './charts/picked.ts'
import { type Box, type Clause, filterText } from './filter/clause.ts'
import { FilterBar } from './filter/filter-bar.tsx'
import { FilterPanel } from './filter/filter-panel.tsx'
import { parseClauses } from './filter/parse-clauses.ts'
import { StyleControls } from './map/style-controls.tsx'
import { TimeSlider, type TimeWindow } from './map/time-slider.tsx'
import { useScale } from './map/use-scale.ts'
import { Pointing } from './pointing.ts'
import { type Selection, useSelection } from './selection.ts'
import { TableTab } from './table/table-tab.tsx'
import { useFullMap } from './use-full-map.ts'
import { useMatched } from './use-matched.ts'

// What is rarely opened is loaded when it is.
const ChartsTab = lazy(async () => ({ default: (await import('./charts/charts-tab.tsx')).ChartsTab }))
const Snippets = lazy(async () => ({ default: (await import('../datasets/snippets.tsx')).Snippets }))
const DownloadTab = lazy(async () => ({
  default: (await import('../datasets/downloads/download-tab.tsx')).DownloadTab,
}))
const ColumnTable = lazy(async () => ({
  default: (await import('../datasets/column-table.tsx')).ColumnTable,
}))
const Versions = lazy(async () => ({ default: (await import('../datasets/versions.tsx')).Versions }))
const MapPanel = lazy(async () => ({ default: (await import('./map/map-panel.tsx')).MapPanel }))

const tabs: Record<Tab, string> = {
  table: 'Table',
  charts: 'Charts',
  code: 'Code',
  download: 'Download',
  columns: 'Columns',
  versions: 'Versions',
}

/** Map, table, charts and filter of one dataset. All of them show the same rows; the address says which. */
export function Explorer({ dataset, facts }: { dataset: DatasetDetails; facts: ReactNode }) {
  const access = useAccess(dataset)
  const [address, change] = useAddress()
  const pointing = useRef(new Pointing()).current
  const [box, setBox] = useState<Box | null>(null)
  const [zoomBox, setZoomBox] = useState<Box | null>(null)
  const { types, clauses } = useClauses(dataset, address.filter)
  const matched = useMatched(dataset, access, address.filter)
  const isInvalid = matched.isError && asProblem(matched.error).status === 400
  const filter = useValidFilter(access === 'all' ? address.filter : '', matched.isSuccess, isInvalid)
  const shown = useMatched(dataset, access, filter)
  const exploration: Exploration = { dataset, access, filter }
  const setSelected = useCallback((selected: string | null) => change({ selected }), [change])
  const selection = useSelection(exploration, address.selected, setSelected)
  const look = useMemo(() => shownLook(address, dataset, access), [address, dataset, access])
  const color = useScale(exploration, look.color, look.classing, address.classes)
  const size = useScale(exploration, look.size, look.sizing, address.classes)
  const [played, setPlayed] = useState<TimeWindow | null>(null)
  const [isMapLoading, setIsMapLoading] = useState(false)
  const mapFilter = played ? filterText(withWindow(clauses, played.column, played), types) : filter
  const onView = useCallback(
    (view: MapView, box: Box) => {
      setBox(box)
      change({ view })
    },
    [change],
  )
  // A copy, so that a second zoom to the same rows is a change too.
  const zoomTo = useCallback((box: Box) => setZoomBox([...box]), [])
  const setClauses = (clauses: Clause[]) => change({ filter: filterText(clauses, types) })
  const isLocked = access !== 'all'
  const isFull = address.isFull && dataset.bbox !== null
  const fullMap = useFullMap(isFull, (isFull) => change({ isFull }))
  return (
    <div ref={fullMap.place} className={isFull ? 'explorer full' : 'explorer'}>
      <AccessBanner exploration={exploration} />
      <FilterBar
        exploration={exploration}
        filter={address.filter}
        clauses={clauses}
        matched={matched.data}
        error={matched.error}
        isInvalid={isInvalid}
        canZoom={box !== null}
        onClauses={setClauses}
        onFilter={(filter) => change({ filter })}
        onZoom={zoomTo}
      />
      <FilterAside clauses={clauses.length}>
        <FilterPanel exploration={exploration} clauses={clauses} box={box} onChange={setClauses} />
      </FilterAside>
      <div className="explorer-main" id="explorer-main" tabIndex={-1}>
        {dataset.bbox && (
          <div className="map-frame">
            <StyleControls
              dataset={dataset}
              look={look}
              color={color}
              time={address.time}
              isDisabled={isLocked}
              onChange={(part) => change({ look: lookChange(look, part) })}
              onTime={(time) => change({ time })}
            />
            <Suspense fallback={<div className="map map-placeholder" />}>
              <MapPanel
                exploration={played ? { ...exploration, filter: mapFilter } : exploration}
                view={address.view}
                onView={onView}
                zoomBox={zoomBox}
                look={look}
                color={color}
                size={size}
                onPick={
                  isLocked
                    ? undefined
                    : (clause, isAdded) => setClauses(picked(clauses, [clause], isAdded, dataset))
                }
                onColors={isLocked ? undefined : (colors) => change({ look: lookChange(look, { colors }) })}
                classes={address.classes}
                onClassRows={(classes) => change({ classes })}
                onLoading={setIsMapLoading}
                isFull={isFull}
                onFull={fullMap.set}
                onArea={
                  isLocked
                    ? undefined
                    : (ring) =>
                        setClauses([...clauses.filter(({ kind }) => kind !== 'area'), { kind: 'area', ring }])
                }
                pointing={pointing}
                selection={selection}
              />
            </Suspense>
            {address.time !== '' && !isLocked && (
              <TimeSlider
                key={address.time}
                dataset={dataset}
                column={address.time}
                shown={windowStart(clauses, address.time)}
                isLoading={isMapLoading}
                onPlay={setPlayed}
                onSelect={(window) => setClauses(withWindow(clauses, address.time, window))}
              />
            )}
          </div>
        )}
        <ExplorerTabs
          exploration={exploration}
          address={address}
          look={look}
          change={change}
          clauses={clauses}
          onClauses={setClauses}
          matched={shown.data}
          pointing={pointing}
          selection={selection}
        />
      </div>
      {facts}
    </div>
  )
}

/** The filter as clauses, and the types of the columns that they need. */
function useClauses({ columns }: DatasetDetails, filter: string) {
  const types = useMemo(() => new Map(columns.map(({ name, type }) => [name, type as string])), [columns])
  const clauses = useMemo(() => parseClauses(filter, types), [filter, types])
  return { types, clauses }
}

/** The clauses with a window over a column of times in the place of the one before; null removes it. */
function withWindow(clauses: readonly Clause[], column: string, window: TimeWindow | null): Clause[] {
  const others = clauses.filter((clause) => clause.kind !== 'range' || clause.column !== column)
  if (window === null) return others
  const { from, to, isLast } = window
  return [...others, { kind: 'range', column, from, to, isBelow: !isLast }]
}

function windowStart(clauses: readonly Clause[], column: string): string | null {
  const clause = clauses.find((one) => one.kind === 'range' && one.column === column)
  return clause?.kind === 'range' && clause.from !== null && clause.to !== null ? String(clause.from) : null
}

/** What is below the map: the table, charts, code, files, columns and versions. */
function ExplorerTabs({
  exploration,
  address,
  look,
  change,
  clauses,
  onClauses,
  matched,
  pointing,
  selection,
}: {
  exploration: Exploration
  address: Address
  look: MapLook
  change: (part: AddressChange) => void
  clauses: Clause[]
  onClauses: (clauses: Clause[]) => void
  matched: number | null | undefined
  pointing: Pointing
  selection: Selection
}) {
  const { dataset, filter } = exploration
  return (
    <Tabs label="The dataset" tabs={tabs} chosen={address.tab} onChoose={(tab) => change({ tab })}>
      {address.tab === 'table' && (
        <TableTab
          exploration={exploration}
          sort={address.sort}
          hidden={address.hidden}
          matched={matched}
          onSort={(sort) => change({ sort })}
          onHide={(hidden) => change({ hidden })}
          clauses={clauses}
          onClauses={onClauses}
          pointing={pointing}
          selection={selection}
        />
      )}
      <Suspense fallback={<Skeleton lines={4} />}>
        {address.tab === 'charts' && (
          <ChartsTab
            exploration={exploration}
            clauses={clauses}
            chosen={address.charts}
            onChoose={(charts) => change({ charts })}
            onClauses={onClauses}
          />
        )}
        {address.tab === 'code' && <Snippets dataset={dataset} filter={filter} look={look} />}
        {address.tab === 'download' && (
          <DownloadTab exploration={exploration} matched={matched} sort={address.sort} />
        )}
        {address.tab === 'columns' && <ColumnTable columns={dataset.columns} />}
        {address.tab === 'versions' && <Versions dataset={dataset} />}
      </Suspense>
    </Tabs>
  )
}

/** On narrow screens the filter is folded. */
function FilterAside({ clauses, children }: { clauses: number; children: ReactNode }) {
  const [isOpen, setIsOpen] = useState(() => matchMedia('(min-width: 60rem)').matches)
  return (
    <aside className="explorer-filter" aria-label="Filter">
      <a className="skip" href="#explorer-main">
        Skip the filters
      </a>
      <details open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary className="filter-fold">Filter{clauses > 0 && ` (${clauses})`}</summary>
        {isOpen && children}
      </details>
    </aside>
  )
}

/**
 * The filter once the service has accepted it; until then the one before, so that nothing disappears. A page that was
 * opened with an invalid filter shows all rows.
 */
function useValidFilter(filter: string, isAccepted: boolean, isInvalid: boolean): string {
  const accepted = useRef<string | null>(null)
  if (isAccepted) accepted.current = filter
  return accepted.current ?? (isInvalid ? '' : filter)
}
