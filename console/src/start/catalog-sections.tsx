import type { Dataset } from '@wayleave/client'
import { EXPORT_FORMATS } from '@wayleave/contract/export-formats'
import { Link } from 'react-router'
import { countFacet, readQuery } from '../catalog/facets.ts'
import { DatasetCard } from '../datasets/dataset-card.tsx'
import { site } from '../site.ts'
import { ago, count, plural, shapeName } from '../words.ts'

const MAX_FEATURED = 6
const MAX_RECENT = 6
const MAX_TOPICS = 16

/** The number of datasets, rows and formats, and of the topics that they are about, if there are any. */
export function Counts({ datasets }: { datasets: readonly Dataset[] }) {
  const rows = datasets.reduce((sum, dataset) => sum + dataset.rows, 0)
  const topics = topicsOf(datasets).length
  const all: [value: number, name: string][] = [
    [datasets.length, datasets.length === 1 ? 'dataset' : 'datasets'],
    [rows, rows === 1 ? 'row' : 'rows'],
    [Object.keys(EXPORT_FORMATS).length, 'file formats'],
    [topics, topics === 1 ? 'topic' : 'topics'],
  ]
  const figures = all.filter(([value]) => value > 0)
  return (
    <ul className="counts">
      {figures.map(([value, name]) => (
        <li key={name}>
          <strong title={count(value)}>{compact.format(value)}</strong> {name}
        </li>
      ))}
    </ul>
  )
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** The operator's choice, or what was updated last. */
export function Featured({ datasets }: { datasets: readonly Dataset[] }) {
  const chosen = featuredOf(datasets)
  return (
    <section className="stack" aria-labelledby="featured">
      <div className="row spread">
        <h2 id="featured">
          {site.startTitles.featured ?? (chosen.length > 0 ? 'Featured datasets' : 'Recently updated')}
        </h2>
        <Link to="/datasets">All datasets</Link>
      </div>
      <ul className="catalog">
        {(chosen.length > 0 ? chosen : recentOf(datasets).slice(0, MAX_FEATURED)).map((dataset) => (
          <DatasetCard key={dataset.table} dataset={dataset} />
        ))}
      </ul>
    </section>
  )
}

/** A list of what was updated last; empty if the cards show the same. */
export function Recent({ datasets }: { datasets: readonly Dataset[] }) {
  if (featuredOf(datasets).length === 0) return null
  return (
    <section className="stack" aria-labelledby="recent">
      <h2 id="recent">{site.startTitles.recent ?? 'Recently updated'}</h2>
      <ul className="recent card flush">
        {recentOf(datasets)
          .slice(0, MAX_RECENT)
          .map((dataset) => (
            <li key={dataset.table}>
              <Link to={`/datasets/${dataset.table}`}>{dataset.title}</Link>
              <span className="small soft">
                {shapeName(dataset)}, {plural(dataset.rows, 'row')}
              </span>
              <span className="small soft">{ago(dataset.updatedAt, Date.now())}</span>
            </li>
          ))}
      </ul>
    </section>
  )
}

export function Topics({ datasets }: { datasets: readonly Dataset[] }) {
  const topics = topicsOf(datasets)
  if (topics.length === 0) return null
  return (
    <section className="stack" aria-labelledby="topics">
      <h2 id="topics">{site.startTitles.topics ?? 'Topics'}</h2>
      <ul className="topics">
        {topics.slice(0, MAX_TOPICS).map(({ value, count: number }) => (
          <li key={value}>
            <Link to={`/datasets?keyword=${encodeURIComponent(value)}`}>
              {value} <span className="soft">{count(number)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The datasets with a map: the operator's choice, what is featured, then the largest ones. */
export function mappedDatasets(datasets: readonly Dataset[]): Dataset[] {
  const order = [...(site.startMap === null ? [] : [site.startMap]), ...site.featured]
  const rank = ({ table }: Dataset) => {
    const index = order.indexOf(table)
    return index < 0 ? order.length : index
  }
  return datasets.filter(({ bbox }) => bbox !== null).sort((a, b) => rank(a) - rank(b) || b.rows - a.rows)
}

function topicsOf(datasets: readonly Dataset[]) {
  return countFacet(datasets, readQuery(new URLSearchParams()), 'keyword', 0)
}

function featuredOf(datasets: readonly Dataset[]): Dataset[] {
  return site.featured.flatMap((table) => datasets.find((dataset) => dataset.table === table) ?? [])
}

function recentOf(datasets: readonly Dataset[]): Dataset[] {
  return [...datasets].sort((a, b) => b.updatedAt.localeCompare(a.updatedAt))
}
