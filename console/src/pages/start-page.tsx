import '../styles/start.css'
import type { Dataset } from '@wayleave/client'
import type { StartSection } from '@wayleave/contract/start-sections'
import { type ComponentType, type FormEvent, lazy, Suspense, useState } from 'react'
import { useNavigate } from 'react-router'
import { useDatasets } from '../api/queries.ts'
import { Empty } from '../components/page/empty.tsx'
import { Loaded } from '../components/page/loaded.tsx'
import { Skeleton } from '../components/page/skeleton.tsx'
import { useTitle } from '../components/page/use-title.ts'
import { SiteLink } from '../components/site-link.tsx'
import { site } from '../site.ts'
import { Counts, Featured, mappedDatasets, Recent, Topics } from '../start/catalog-sections.tsx'
import { LivingMap } from '../start/living-map.tsx'

const KeySteps = lazy(async () => ({ default: (await import('../start/developers.tsx')).KeySteps }))
const Offers = lazy(async () => ({ default: (await import('../start/developers.tsx')).Offers }))

type Datasets = { datasets: readonly Dataset[] }

const SECTIONS: Record<StartSection, ComponentType<Datasets>> = {
  counts: Counts,
  featured: Featured,
  topics: Topics,
  recent: Recent,
  key: ({ datasets }) => <KeySteps dataset={mappedDatasets(datasets)[0] ?? datasets[0]} />,
  developers: () => <Offers />,
}

/** What the service is, a picture of its data, and the sections that the operator chose. */
export function StartPage() {
  useTitle('')
  const datasets = useDatasets()
  const hasMap = site.startMap !== 'none' && datasets.data?.some(({ bbox }) => bbox !== null) !== false
  return (
    <div className="start">
      <section className={hasMap ? 'hero with-map' : 'hero'}>
        <div className="hero-text">
          <p className="eyebrow">
            {site.audience ??
              (site.contact?.name
                ? `A service of ${site.contact.name}`
                : 'For analysts, map makers and developers')}
          </p>
          <h1>{site.headline}</h1>
          {site.description && <p className="lead">{site.description}</p>}
          {paragraphsOf(site.startText).map((text) => (
            <p key={text}>{text}</p>
          ))}
          <Search />
          <div className="row">
            {Object.entries(site.startLinks).map(([text, address]) => (
              <SiteLink key={text} to={address}>
                {text}
              </SiteLink>
            ))}
          </div>
        </div>
        {hasMap && datasets.data && <LivingMap datasets={mappedDatasets(datasets.data)} />}
        {hasMap && !datasets.data && <div className="living-map card" />}
      </section>
      <Loaded query={datasets} lines={2} height="17rem">
        {(all) =>
          all.length === 0 ? (
            <Empty title="No dataset is published yet" />
          ) : (
            site.startSections.map((name) => {
              const Section = SECTIONS[name]
              return (
                // A section whose code is still loading does not hold back the others.
                <Suspense key={name} fallback={<Skeleton lines={4} />}>
                  <Section datasets={all} />
                </Suspense>
              )
            })
          )
        }
      </Loaded>
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

function paragraphsOf(text: string | null): string[] {
  return (text ?? '')
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
}
