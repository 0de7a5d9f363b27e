import type { Exploration } from '../../explorer/access.ts'
import { plural } from '../../words.ts'
import { FileRow } from './download-row.tsx'
import { EXTRACT_FORMATS, useExtract } from './use-extract.ts'
import { useExtractPrice } from './use-extract-price.ts'

/** Files of the rows that match the filter, up to a number of rows, each with its price. */
export function FilteredDownloads({
  exploration: { dataset, filter },
  matched,
  sort,
}: {
  exploration: Exploration
  /** How many rows match; null or undefined if that is not known. */
  matched: number | null | undefined
  sort: string
}) {
  const formats = (Object.keys(EXTRACT_FORMATS) as (keyof typeof EXTRACT_FORMATS)[]).filter(
    (format) => format !== 'geojson' || dataset.geometryType !== null,
  )
  return (
    <section className="card stack-small" aria-labelledby="filtered-downloads">
      <h2 id="filtered-downloads">The filtered rows</h2>
      <p className="small soft">
        {matched == null ? 'The rows' : plural(matched, 'row')} that match the filter, in one file.
      </p>
      <ul className="downloads">
        {formats.map((format) => (
          <FilteredRow key={format} table={dataset.table} format={format} filter={filter} sort={sort} />
        ))}
      </ul>
    </section>
  )
}

function FilteredRow({
  table,
  format,
  filter,
  sort,
}: {
  table: string
  format: keyof typeof EXTRACT_FORMATS
  filter: string
  sort: string
}) {
  const { state, url, isOfThisFilter, start, stop } = useExtract(table, format, filter, sort)
  const price = useExtractPrice(url, state.kind !== 'running')
  const isOfAnother = state.kind === 'running' && !isOfThisFilter
  return (
    <FileRow
      name={`${EXTRACT_FORMATS[format].name} of the filtered rows`}
      note={isOfAnother && <span className="small soft">The filter has changed since</span>}
      price={price}
      state={state}
      onStart={() => start(price)}
      onStop={stop}
      disabled={false}
    />
  )
}
