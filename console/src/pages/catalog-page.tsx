import { useMemo, useState } from 'react'
import { useDatasets } from '../api/queries.ts'
import { Empty } from '../components/empty.tsx'
import { Loaded } from '../components/loaded.tsx'
import { SearchField } from '../components/search-field.tsx'
import { useTitle } from '../components/use-title.ts'
import { DatasetCard } from '../datasets/dataset-card.tsx'
import { searchDatasets } from '../datasets/search-datasets.ts'
import { plural } from '../words.ts'

export function CatalogPage() {
  useTitle('Datasets')
  const datasets = useDatasets()
  const [search, setSearch] = useState('')
  const found = useMemo(() => searchDatasets(datasets.data ?? [], search), [datasets.data, search])
  return (
    <div className="stack">
      <div className="page-head">
        <div>
          <h1>Datasets</h1>
          <p>Look at the data on a map, take a sample for free, download it, or read it with a key.</p>
        </div>
      </div>
      <div className="search">
        <SearchField search={search} onSearch={setSearch} placeholder="Title, table, keyword, column…" />
        <p className="small soft" role="status">
          {datasets.data ? plural(found.length, 'dataset') : ' '}
        </p>
      </div>
      <Loaded query={datasets} lines={3} height="17rem">
        {(all) =>
          found.length > 0 ? (
            <ul className="catalog">
              {found.map((dataset) => (
                <DatasetCard key={dataset.table} dataset={dataset} />
              ))}
            </ul>
          ) : (
            <Empty title={all.length === 0 ? 'No dataset is published yet' : 'No dataset matches'}>
              {all.length === 0 ? (
                <p>An administrator publishes one in the administration, or at the command line.</p>
              ) : (
                <button type="button" className="button" onClick={() => setSearch('')}>
                  Show all
                </button>
              )}
            </Empty>
          )
        }
      </Loaded>
    </div>
  )
}
