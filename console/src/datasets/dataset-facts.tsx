import type { DatasetDetails } from '@wayleave/contract/records'
import { Link } from 'react-router'
import { count, period, plural, shapeName, updateWords } from '../words.ts'

/** What a reader wants to know about a dataset before they use it. */
export function DatasetFacts({ dataset }: { dataset: DatasetDetails }) {
  const updates = updateWords(dataset.updateFrequency)
  return (
    <section className="card dataset-facts" aria-label="Facts">
      <dl className="facts">
        <dt>Table</dt>
        <dd>
          <code>{dataset.table}</code>
        </dd>
        <dt>Kind</dt>
        <dd>{shapeName(dataset)}</dd>
        <dt>Rows</dt>
        <dd>{count(dataset.rows)}</dd>
        {dataset.timeExtent && (
          <>
            <dt>Time</dt>
            <dd>{period(dataset.timeExtent)}</dd>
          </>
        )}
        <dt>Price</dt>
        <dd>{dataset.credits === 0 ? 'Free' : `${plural(dataset.credits, 'credit')} a download`}</dd>
        {updates && (
          <>
            <dt>Updated</dt>
            <dd>{updates}</dd>
          </>
        )}
        {dataset.contact && (
          <>
            <dt>Contact</dt>
            <dd dir="auto">
              <Contact contact={dataset.contact} />
            </dd>
          </>
        )}
      </dl>
      {dataset.keywords.length > 0 && (
        <ul className="keywords" aria-label="Keywords">
          {dataset.keywords.map((word) => (
            <li key={word}>
              <Link to={`/datasets?keyword=${encodeURIComponent(word)}`}>{word}</Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

/** A mail address, a web address or a name. */
function Contact({ contact }: { contact: string }) {
  if (/^[^\s@<>]+@[^\s@<>]+$/.test(contact)) return <a href={`mailto:${contact}`}>{contact}</a>
  if (!/^https?:\/\/\S+$/.test(contact)) return <>{contact}</>
  return (
    <a href={contact} target="_blank" rel="noreferrer">
      {contact}
    </a>
  )
}
