import type { Archive } from '@wayleave/client'
import type { DatasetDetails } from '@wayleave/contract/records'
import { useState } from 'react'
import { AccessNote } from '../access/access-note.tsx'
import { NoOrganizationNote } from '../access/no-organization-note.tsx'
import { useArchives, useMe } from '../api/queries.ts'
import { RowButton } from '../components/form/row-button.tsx'
import { Loaded } from '../components/page/loaded.tsx'
import { Table } from '../components/table.tsx'
import { Moment } from '../components/when.tsx'
import { DraftNote, VersionActions } from '../publishing/version-actions.tsx'
import { SourcePanel } from '../sources/source-panel.tsx'
import { count, formatName, plural, suitsDataset } from '../words.ts'
import { ChangesMap } from './changes-map.tsx'
import { DownloadRow } from './downloads/download-row.tsx'
import { hasDownloads } from './downloads/download-store.ts'
import { fileKeyPrefix } from './downloads/use-download.ts'
import { usePurchases } from './downloads/use-purchases.ts'
import { mayChange } from './may-change.ts'
import type { Box } from './small-map.tsx'
import { featureChanges, versionChanges } from './version-changes.ts'

/** All versions of a dataset. Downloading those of a public one needs ARCHIVED_DATA. */
export function Versions({ dataset }: { dataset: DatasetDetails }) {
  const archives = useArchives(dataset.table, true)
  const me = useMe().data
  const organization = me?.organization
  const unlocked = dataset.access.includes('archives')
  const isPublisher = mayChange(me, dataset)
  const byAddOn = dataset.visibility === 'public'
  return (
    <div className="stack">
      <p className="small soft">
        Each time the dataset is published, it gets a new version. Versions never change.{' '}
        {unlocked &&
          dataset.credits > 0 &&
          `A download of an older version costs ${plural(dataset.credits, 'credit')}, as the current one does.`}
        {!unlocked &&
          (byAddOn
            ? 'Older versions are downloaded with the add-on “Older versions”.'
            : 'Your access does not include older versions.')}
      </p>
      {me && !organization && !unlocked && <NoOrganizationNote />}
      {organization && !unlocked && byAddOn && (
        <AccessNote organization={organization} addOn="ARCHIVED_DATA" />
      )}
      {isPublisher && <DraftNote dataset={dataset} />}
      <div className="card flush">
        <Loaded query={archives} lines={3}>
          {(versions) => (
            <Table
              label="Versions"
              rows={versions}
              keyOf={({ version }) => version}
              columns={[
                {
                  head: 'Version',
                  cell: ({ version, current }) => (
                    <>
                      {version} {current && <span className="badge good">Current</span>}
                    </>
                  ),
                },
                { head: 'Published', cell: ({ createdAt }) => <Moment at={createdAt} /> },
                { head: 'Rows', kind: 'number', cell: ({ rows }) => count(rows) },
                {
                  head: 'Changes',
                  kind: 'long',
                  cell: (version) => (
                    <Changes
                      {...{ version, versions, table: dataset.table }}
                      mayCompare={organization != null}
                    />
                  ),
                },
                ...(isPublisher
                  ? [
                      {
                        head: 'Actions',
                        kind: 'actions' as const,
                        cell: (version: Archive) => (
                          <VersionActions table={dataset.table} archive={version} />
                        ),
                      },
                    ]
                  : []),
                {
                  head: 'Files',
                  cell: (version) => (
                    <VersionFiles dataset={dataset} archive={version} disabled={!unlocked} />
                  ),
                },
              ]}
            />
          )}
        </Loaded>
      </div>
      {mayChange(me, dataset) && <SourcePanel table={dataset.table} />}
    </div>
  )
}

function Changes({
  table,
  version,
  versions,
  mayCompare,
}: {
  table: string
  version: Archive
  versions: Archive[]
  mayCompare: boolean
}) {
  const before = versions.find((one) => one.version < version.version)
  const changes = versionChanges(version, before)
  return (
    <>
      {version.note && <span dir="auto">{version.note}</span>}
      {version.changes && (
        <FeatureChanges {...{ table, version }} changes={version.changes} hasMap={mayCompare} />
      )}
      {changes !== null && <div className="small soft">{changes}</div>}
      {changes === null && !version.note && <span className="soft">First version</span>}
    </>
  )
}

/** Such as “+312 −4 ~1,208”: added, removed and changed features. */
function FeatureChanges({
  table,
  version: { version, bbox },
  changes,
  hasMap,
}: {
  table: string
  version: Archive
  changes: NonNullable<Archive['changes']>
  hasMap: boolean
}) {
  const [isOpen, setIsOpen] = useState(false)
  const { short, words } = featureChanges(changes)
  const isChanged = changes.added + changes.removed + changes.changed > 0
  return (
    <div className="nowrap" title={words}>
      <span aria-hidden="true">{short}</span>
      <span className="visually-hidden">{words}</span>
      {hasMap && isChanged && bbox && (
        <RowButton label="Map" of={` of the changes to version ${version}`} onClick={() => setIsOpen(true)} />
      )}
      {isOpen && (
        <ChangesMap
          {...{ table, from: changes.from, to: version }}
          bbox={bbox as Box}
          onClose={() => setIsOpen(false)}
        />
      )}
    </div>
  )
}

function VersionFiles({
  dataset: { table, credits },
  archive,
  disabled,
}: {
  dataset: DatasetDetails
  archive: Archive
  disabled: boolean
}) {
  const [open, setOpen] = useState(() => hasDownloads(fileKeyPrefix(table, archive.version)))
  const purchases = usePurchases(table, open && credits > 0)
  const isPaid = (format: string) =>
    purchases.some((purchase) => purchase.version === archive.version && purchase.format === format)
  const formats = archive.formats.filter(({ format }) => suitsDataset(format, archive))
  if (disabled) {
    return <span className="soft small">{formats.map(({ format }) => formatName(format)).join(', ')}</span>
  }
  if (!open) {
    return (
      <button
        type="button"
        className="button small"
        aria-label={`Download version ${archive.version}`}
        onClick={() => setOpen(true)}
      >
        Download
      </button>
    )
  }
  return (
    <ul className="downloads">
      {formats.map(({ format, bytes }) => (
        <DownloadRow
          key={format}
          table={table}
          format={format}
          version={archive.version}
          size={bytes}
          credits={credits}
          isPaid={isPaid(format)}
          disabled={false}
        />
      ))}
    </ul>
  )
}
