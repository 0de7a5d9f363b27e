import type { Dataset } from '@wayleave/client'
import { type FormEvent, useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { useDatasets, useSession } from '../api/queries.ts'
import { Empty } from '../components/page/empty.tsx'
import { Loaded } from '../components/page/loaded.tsx'
import { useTitle } from '../components/page/use-title.ts'
import { DatasetCard } from '../datasets/dataset-card.tsx'
import { site } from '../site.ts'
import { plural } from '../words.ts'

const MAX_FEATURED = 6

/** What the service is, whose it is, a search, and some of its datasets. */
export function StartPage() {
  useTitle('')
  const datasets = useDatasets()
  const isSignedIn = useSession() === 'signed-in'
  return (
    <div className="stack">
      <section className="hero">
        <h1>{site.title}</h1>
        {site.description && <p className="lead">{site.description}</p>}
        {paragraphsOf(site.startText).map((text) => (
          <p key={text}>{text}</p>
        ))}
        {site.contact?.name && <p className="small soft">A service of {site.contact.name}.</p>}
        <Search />
      </section>
      <section className="stack" aria-labelledby="featured">
        <div className="row spread">
          <h2 id="featured">{site.featured.length > 0 ? 'Featured datasets' : 'Recently updated'}</h2>
          <Link to="/datasets">
            {datasets.data ? `All ${plural(datasets.data.length, 'dataset')}` : 'All datasets'}
          </Link>
        </div>
        <Loaded query={datasets} lines={2} height="17rem">
          {(all) =>
            all.length === 0 ? (
              <Empty title="No dataset is published yet" />
            ) : (
              <ul className="catalog">
                {featured(all).map((dataset) => (
                  <DatasetCard key={dataset.table} dataset={dataset} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </section>
      <section className="stack" aria-labelledby="ways">
        <h2 id="ways">Use the data</h2>
        <ul className="ways">
          <Way
            to={isSignedIn ? '/getting-started' : '/sign-in'}
            title={isSignedIn ? 'Getting started' : 'Sign in'}
          >
            Create a key and send your first request, in three steps.
          </Way>
          <Way href="/docs/gallery" title="Gallery">
            A web map, a notebook, QGIS, DuckDB, R and spreadsheets.
          </Way>
          <Way href="/docs/api" title="API reference">
            Every operation, to read and to try.
          </Way>
        </ul>
      </section>
    </div>
  )
}

function Search() {
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    navigate(`/datasets${text.trim() === '' ? '' : `?q=${encodeURIComponent(text.trim())}`}`)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: React does not know the element search yet in all browsers.
    <form role="search" onSubmit={submit}>
      <input
        type="search"
        aria-label="Search the datasets"
        placeholder="Title, keyword, column…"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className="button primary">
        Search
      </button>
    </form>
  )
}

function Way({ to, href, title, children }: { to?: string; href?: string; title: string; children: string }) {
  return (
    <li className="card">
      <strong>{to ? <Link to={to}>{title}</Link> : <a href={href}>{title}</a>}</strong>
      <span className="small soft">{children}</span>
    </li>
  )
}

/** The operator's choice in its order, or the datasets that were updated last. */
function featured(all: Dataset[]): Dataset[] {
  const chosen = site.featured.flatMap((table) => all.find((dataset) => dataset.table === table) ?? [])
  if (chosen.length > 0) return chosen
  return [...all].sort((a, b) => b.updatedAt.localeCompare(a.updatedAt)).slice(0, MAX_FEATURED)
}

function paragraphsOf(text: string | null): string[] {
  return (text ?? '')
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
}
