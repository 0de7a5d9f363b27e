import type { Dataset } from '@wayleave/client'
import { useMemo, useState } from 'react'
import { useDatasets } from '../api/queries.ts'
import { FacetList } from '../catalog/facet-list.tsx'
import {
  type CatalogQuery,
  countFacet,
  FACETS,
  type Facet,
  readQuery,
  SORTS,
  selectDatasets,
} from '../catalog/facets.ts'
import { SearchField } from '../components/form/search-field.tsx'
import { Empty } from '../components/page/empty.tsx'
import { Loaded } from '../components/page/loaded.tsx'
import { useParameters } from '../components/page/use-parameters.ts'
import { useTitle } from '../components/page/use-title.ts'
import { DatasetCard } from '../datasets/dataset-card.tsx'
import { SelectField } from '../organization/filter-fields.tsx'
import { plural } from '../words.ts'

const PAGE_SIZE = 24

const titles: Record<Facet, string> = {
  keyword: 'Keyword',
  license: 'License',
  kind: 'Kind',
  updated: 'Updated',
}

/** All datasets, with search, facets and sorting, all of which are in the page's address. */
export function CatalogPage() {
  useTitle('Datasets')
  const datasets = useDatasets()
  const [parameters, setParameters] = useParameters()
  const query = readQuery(parameters)
  const [now] = useState(() => Date.now())
  const [isOpen, setIsOpen] = useState(false)
  const set = (name: keyof CatalogQuery, value: string) =>
    setParameters((current) => {
      const changed = new URLSearchParams(current)
      if (value === '' || (name === 'sort' && value === 'title')) changed.delete(name)
      else changed.set(name, value)
      changed.delete('page')
      return changed
    }, name !== 'q')
  const key = parameters.toString()
  const matches = useMemo(() => selectDatasets(datasets.data ?? [], query, now), [datasets.data, key, now])
  return (
    <div className="stack">
      <div className="page-head">
        <div>
          <h1>Datasets</h1>
          <p>Look at the data on a map, take a sample for free, download it, or read it with a key.</p>
        </div>
      </div>
      <div className="filters of-catalog">
        <SearchField
          search={query.q}
          onSearch={(value) => set('q', value)}
          placeholder="Title, table, keyword, column…"
        />
        <SelectField
          label="Sort by"
          value={query.sort}
          onChange={(value) => set('sort', value)}
          options={SORTS}
        />
        <button
          type="button"
          className="button facets-toggle"
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          Filters
        </button>
        <p className="small soft" role="status">
          {datasets.data ? plural(matches.length, 'dataset') : ' '}
        </p>
      </div>
      <Loaded query={datasets} lines={3} height="17rem">
        {(all) => (
          <div className="faceted">
            <a className="skip" href="#results">
              Skip the filters
            </a>
            <div className={`facets${isOpen ? ' open' : ''}`}>
              {FACETS.map((facet) => (
                <FacetList
                  key={facet}
                  title={titles[facet]}
                  rows={countFacet(all, query, facet, now)}
                  chosen={query[facet]}
                  onChoose={(value) => set(facet, value)}
                />
              ))}
            </div>
            <Results
              key={key}
              all={all}
              matches={matches}
              onReset={() => setParameters(() => new URLSearchParams(), true)}
            />
          </div>
        )}
      </Loaded>
    </div>
  )
}

function Results({ all, matches, onReset }: { all: Dataset[]; matches: Dataset[]; onReset: () => void }) {
  const [shown, setShown] = useState(PAGE_SIZE)
  if (matches.length === 0) {
    return (
      <Empty title={all.length === 0 ? 'No dataset is published yet' : 'No dataset matches'}>
        {all.length === 0 ? (
          <p>An administrator publishes one in the administration, or at the command line.</p>
        ) : (
          <>
            <p>Try another word, or fewer filters.</p>
            <button type="button" className="button" onClick={onReset}>
              Show all {all.length}
            </button>
          </>
        )}
      </Empty>
    )
  }
  return (
    <div className="stack" id="results" tabIndex={-1}>
      <ul className="catalog">
        {matches.slice(0, shown).map((dataset) => (
          <DatasetCard key={dataset.table} dataset={dataset} />
        ))}
      </ul>
      {matches.length > shown && (
        <div>
          <button type="button" className="button" onClick={() => setShown(shown + PAGE_SIZE)}>
            Show {Math.min(PAGE_SIZE, matches.length - shown)} more of {matches.length}
          </button>
        </div>
      )}
    </div>
  )
}
