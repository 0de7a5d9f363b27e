import type { DatasetDetails } from '@wayleave/contract/records'
import { useMemo, useRef, useState } from 'react'
import { useDataset } from '../api/queries.ts'
import { Loaded } from '../components/page/loaded.tsx'
import type { Exploration } from '../explorer/access.ts'
import { readAddress, shownLook } from '../explorer/address.ts'
import { MapPanel } from '../explorer/map/map-panel.tsx'
import { useFixedScale } from '../explorer/map/use-scale.ts'
import { Pointing } from '../explorer/pointing.ts'
import { useSelection } from '../explorer/selection.ts'

/**
 * The map of a dataset for a frame on another site. It shows what everybody may get: all of an open dataset, the sample
 * of another one. It never asks for a session, so the site around it learns nothing about the user.
 */
export function EmbeddedMap({ table }: { table: string }) {
  const dataset = useDataset(table)
  return (
    <main className="embedded-map">
      <Loaded
        query={dataset}
        lines={2}
        height="100vh"
        heading={table}
        missing={<MissingDataset table={table} />}
      >
        {(data) => <DatasetMap dataset={data} />}
      </Loaded>
    </main>
  )
}

function MissingDataset({ table }: { table: string }) {
  return (
    <div className="empty" role="alert">
      <h1>There is no dataset named “{table}”</h1>
      <p>It may have another name now, or be only for some organizations.</p>
      <a href="/datasets" target="_blank" rel="noopener">
        See all datasets
      </a>
    </div>
  )
}

function DatasetMap({ dataset }: { dataset: DatasetDetails }) {
  const address = useMemo(() => readAddress(new URLSearchParams(location.search)), [])
  const access = dataset.access.includes('features') ? 'all' : 'signed-out'
  // The filter and the sizes need all rows; of another dataset the frame shows the sample as it is.
  const exploration: Exploration = { dataset, access, filter: access === 'all' ? address.filter : '' }
  const [selected, setSelected] = useState<string | null>(null)
  const selection = useSelection(exploration, selected, setSelected)
  const { classes } = address
  const look = useMemo(() => shownLook(address, dataset, access), [address, dataset, access])
  const color = useFixedScale(exploration, look.color, look.classing, classes)
  const size = useFixedScale(exploration, access === 'all' ? look.size : '', look.sizing, classes)
  const pointing = useRef(new Pointing()).current
  return (
    <>
      <h1 className="embedded-title" dir="auto">
        <a href={`/datasets/${dataset.table}`} target="_blank" rel="noopener">
          {dataset.title}
        </a>
      </h1>
      {dataset.bbox ? (
        <MapPanel
          exploration={exploration}
          view={address.view}
          onView={() => {}}
          look={look}
          color={color}
          size={size}
          pointing={pointing}
          selection={selection}
          isEmbedded
        />
      ) : (
        <p className="empty">This dataset has no geometry to show on a map.</p>
      )}
    </>
  )
}
