import type { Feature } from '@wayleave/client'
import type { DatasetDetails } from '@wayleave/contract/records'
import type { ReactNode } from 'react'
import { CopyButton } from '../components/form/copy-button.tsx'
import { Icon } from '../components/icon.tsx'
import { ProblemNote } from '../components/page/problem-note.tsx'
import { Skeleton } from '../components/page/skeleton.tsx'
import { cellText, exactText } from '../datasets/cell-text.ts'
import { ColumnName } from './column-name.tsx'
import type { Clause } from './filter/clause.ts'
import { OnlyThese } from './filter/only-these.tsx'
import { clauseOfValue } from './filter/value-clause.ts'
import type { LabelColumn } from './label-column.ts'

/** All properties of the selected feature. */
export function FeatureDetails({
  id,
  feature,
  error,
  isExcluded,
  label,
  columns,
  className,
  onPick,
  onClose,
  children,
}: {
  id: string
  feature: Feature | null
  error: unknown
  /** Whether the filter excludes it. */
  isExcluded: boolean
  label: LabelColumn
  columns: DatasetDetails['columns']
  className: string
  /** Filters by one of the values; undefined if the rows cannot be filtered. */
  onPick: ((clause: Clause) => void) | undefined
  onClose: () => void
  children?: ReactNode
}) {
  const title = feature && label ? feature.properties[label] : null
  return (
    <section className={`details fades ${className}`} aria-label="Attributes" aria-live="polite">
      <div className="details-head">
        <h2 dir="auto">{title ? String(title) : `Feature ${id}`}</h2>
        <button
          type="button"
          className="button quiet small"
          onClick={onClose}
          aria-label="Close the attributes"
        >
          <Icon name="close" />
        </button>
      </div>
      {error !== null && <ProblemNote error={error} />}
      {isExcluded && <p className="note small">The filter excludes this feature.</p>}
      {!feature && error === null && <Skeleton lines={4} />}
      {feature && (
        <>
          <dl className="facts" tabIndex={0}>
            {Object.entries(feature.properties).map(([name, value]) => {
              const column = columns.find((one) => one.name === name)
              const text = cellText(value, column?.type)
              return (
                <div key={name} className="contents">
                  <dt>{column ? <ColumnName column={column} /> : name}</dt>
                  <dd dir="auto" title={text === String(value) ? undefined : exactText(value)}>
                    {typeof value === 'string' && isAddress(value) ? <Address url={value} /> : text}
                    <OnlyThese clause={clauseOfValue(name, column?.type, value)} onPick={onPick} />
                  </dd>
                </div>
              )
            })}
          </dl>
          <div className="row">
            {children}
            <CopyButton text={JSON.stringify(feature, null, 2)} label="Copy as GeoJSON" />
          </div>
        </>
      )}
    </section>
  )
}

/** Only http(s) URLs become links: data must not create a link that runs a script. */
function isAddress(text: string): boolean {
  return /^https?:\/\/\S+$/.test(text)
}

function Address({ url }: { url: string }) {
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {url}
    </a>
  )
}
