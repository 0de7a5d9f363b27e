import { licenseLink, licenseName } from '@wayleave/contract/licenses'
import type { DatasetDetails } from '@wayleave/contract/records'
import { CopyButton } from '../components/form/copy-button.tsx'
import { Day } from '../components/when.tsx'
import { count } from '../words.ts'

/** Below the title: what a reader has to know to use and to name the dataset. */
export function DatasetTerms({ dataset }: { dataset: DatasetDetails }) {
  return (
    <section className="dataset-terms" aria-label="License, source and version">
      <dl>
        <div>
          <dt>License</dt>
          <dd>
            <License license={dataset.license} />
          </dd>
        </div>
        {dataset.attribution && (
          <div>
            <dt>Source</dt>
            <dd dir="auto">{dataset.attribution}</dd>
          </div>
        )}
        <div>
          <dt>Version</dt>
          <dd>
            {count(dataset.version)}, <Day at={dataset.updatedAt} />
          </dd>
        </div>
        {dataset.citation && (
          <div className="citation">
            <dt>Cite as</dt>
            <dd dir="auto">
              <span>{dataset.citation}</span> <CopyButton text={dataset.citation} label="Copy the citation" />
            </dd>
          </div>
        )}
      </dl>
    </section>
  )
}

function License({ license }: { license: string }) {
  if (license === '') return <>Not stated</>
  const link = licenseLink(license)
  if (link === null) return <>{license}</>
  const name = licenseName(license)
  return (
    <a href={link} target="_blank" rel="noreferrer license">
      {name === license ? license : `${name} (${license})`}
    </a>
  )
}
