import type { Dataset } from '@wayleave/client'
import { lazy, Suspense, useState } from 'react'
import { Link } from 'react-router'
import { useSession } from '../api/queries.ts'
import { CodeBlock } from '../components/code-block.tsx'
import { SignInLink } from '../components/page/sign-in-link.tsx'
import { Tabs } from '../components/tabs.tsx'
import { snippetsFor } from '../datasets/snippet-texts.ts'
import { site } from '../site.ts'

// Only operators with texts of their own need it.
const Markdown = lazy(() => import('../components/markdown.tsx'))

const LANGUAGES = { curl: 'curl', python: 'Python', javascript: 'JavaScript', duckdb: 'DuckDB' } as const

const OFFERS: [href: string, title: string, text: string][] = [
  ['/docs/ogc', 'Query, do not copy', 'OGC API - Features with CQL2 filters, aggregates and paging.'],
  ['/docs/tiles', 'Maps in a minute', 'Vector tiles and a MapLibre style for every dataset.'],
  [
    '/docs/downloads',
    'Files that open',
    'GeoParquet, GeoPackage, FlatGeobuf, CSV and more, with every version.',
  ],
  [
    '/docs/python',
    'Clients',
    'Python and JavaScript, installed from this service; R, QGIS and GDAL without any.',
  ],
  ['/docs/webhooks', 'Know what changed', 'Webhooks, and the features that differ between two versions.'],
  [
    '/docs/assistants',
    'For assistants',
    'A server for the Model Context Protocol, with the rights of your key.',
  ],
]

/** How to get a key, with the first request to paste. */
export function KeySteps({ dataset }: { dataset: Dataset | undefined }) {
  const isSignedIn = useSession() === 'signed-in'
  return (
    <section className="key-steps" aria-labelledby="key">
      <div className="stack">
        <h2 id="key">{site.startTitles.key ?? 'From here to your first request'}</h2>
        {site.startKey === null ? <UsualSteps /> : <OwnText source={site.startKey} />}
        <div className="row">
          {isSignedIn ? (
            <Link className="button primary" to="/getting-started">
              Create a key
            </Link>
          ) : (
            <SignInLink className="button primary">Get a key</SignInLink>
          )}
          {site.startKey === null && <a href="/docs/api">API reference</a>}
        </div>
      </div>
      {dataset && <FirstRequest dataset={dataset} />}
    </section>
  )
}

function UsualSteps() {
  return (
    <ol className="numbered">
      <li>
        <strong>Sign in</strong> with your mail address. There is no password to remember.
      </li>
      <li>
        <strong>Create a key</strong> and keep its secret in <code>WAYLEAVE_API_KEY</code>.
      </li>
      <li>
        <strong>Paste the code</strong> and run it.
      </li>
    </ol>
  )
}

/** What the operator has written for a section. Its lists look like those of the usual text. */
function OwnText({ source }: { source: string }) {
  return (
    <div className="own-text">
      <Suspense>
        <Markdown source={source} />
      </Suspense>
    </div>
  )
}

function FirstRequest({ dataset }: { dataset: Dataset }) {
  const [language, setLanguage] = useState<keyof typeof LANGUAGES>('curl')
  const snippet = snippetsFor(dataset, location.origin)[language]!
  return (
    <Tabs label="Language" tabs={LANGUAGES} chosen={language} onChoose={setLanguage}>
      <CodeBlock code={snippet.code} label={`${snippet.name} code`} />
    </Tabs>
  )
}

/** What developers get. */
export function Offers() {
  return (
    <section className="stack" aria-labelledby="offers">
      <div className="row spread">
        <h2 id="offers">{site.startTitles.developers ?? 'Made to build on'}</h2>
        {site.startDevelopers === null && <a href="/docs/gallery">See the gallery</a>}
      </div>
      {site.startDevelopers === null ? <UsualOffers /> : <OwnText source={site.startDevelopers} />}
    </section>
  )
}

function UsualOffers() {
  return (
    <ul className="ways">
      {OFFERS.map(([href, title, text]) => (
        <li key={href} className="card">
          <strong>
            <a href={href}>{title}</a>
          </strong>
          <span className="small soft">{text}</span>
        </li>
      ))}
    </ul>
  )
}
