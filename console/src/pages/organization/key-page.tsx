import type { KeyRecord } from '@wayleave/contract/records'
import { Link, useParams } from 'react-router'
import { useKey, useOrganization } from '../../api/queries.ts'
import { Loaded } from '../../components/page/loaded.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { Ago, Day, When } from '../../components/when.tsx'
import { KeyActions } from '../../keys/key-actions.tsx'
import { KeyCallers } from '../../keys/key-callers.tsx'
import { permissionWords } from '../../keys/key-permissions.ts'
import { KeyRequests } from '../../keys/key-requests.tsx'
import { KeyStatus } from '../../keys/key-status.tsx'
import { UsageReport } from '../../usage/usage-report.tsx'
import { count, plural } from '../../words.ts'

export function KeyPage() {
  const { keyId } = useParams()
  return <KeyDetail path={`/v1/api-keys/${keyId}`} list="/keys" />
}

export function PlatformKeyPage() {
  const { keyId } = useParams()
  return <KeyDetail path={`/v1/admin/keys/${keyId}`} list="/administration/keys" />
}

const scopes = { user: 'Personal', organization: 'Organization', platform: 'Platform' }

function KeyDetail({ path, list }: { path: string; list: string }) {
  const key = useKey(path)
  const permissions = useOrganization()?.permissions ?? []
  useTitle(key.data?.name ?? 'Key')
  const mayChange = (record: KeyRecord) =>
    record.scope !== 'organization' || permissions.includes('APIKEY_CREATE')
  return (
    <div className="stack">
      <p className="small">
        <Link to={list}>All keys</Link>
      </p>
      <Loaded query={key} lines={8} missing={<MissingKey />}>
        {(record) => (
          <>
            <div className="page-head">
              <div>
                <h1>{record.name}</h1>
                <p className="row">
                  <KeyStatus record={record} /> <code>{record.prefix}…</code>
                </p>
              </div>
              {mayChange(record) && <KeyActions record={record} path={path} list={list} />}
            </div>
            <div className="columns">
              <UsageReport path={`${path}/usage`} isOver={record.revokedAt !== null} />
              <section className="card stack-small">
                <h2>About</h2>
                <KeyFacts record={record} />
              </section>
            </div>
            <KeyRequests path={`${path}/requests`} />
          </>
        )}
      </Loaded>
    </div>
  )
}

function MissingKey() {
  return (
    <div className="empty" role="alert">
      <h1>There is no such key</h1>
      <p>It was deleted, or it is a key of somebody else.</p>
    </div>
  )
}

function KeyFacts({ record }: { record: KeyRecord }) {
  return (
    <dl className="facts">
      <dt>Scope</dt>
      <dd>{scopes[record.scope]}</dd>
      <dt>Permissions</dt>
      <dd>{permissionWords(record.permissions)}</dd>
      <dt>Used by</dt>
      <dd>
        <KeyCallers record={record} />
      </dd>
      <dt>Expires</dt>
      <dd>{record.expiresAt ? <Day at={record.expiresAt} /> : 'Never'}</dd>
      {record.scope !== 'platform' && (
        <>
          <dt>Budget</dt>
          <dd>
            {record.creditLimit === null ? (
              'No limit'
            ) : (
              <>
                {plural(record.creditLimit, 'credit')} a month,{' '}
                <span className="nowrap">{count(record.creditsUsed)} used</span>
              </>
            )}
          </dd>
        </>
      )}
      <dt>Last used</dt>
      <dd>
        <Ago at={record.lastUsedAt} />
      </dd>
      {record.previousSecret && <PreviousSecret {...record.previousSecret} />}
      <dt>Created</dt>
      <dd>
        <When at={record.createdAt} />
      </dd>
      <dt>Rotated</dt>
      <dd>
        <When at={record.rotatedAt} />
      </dd>
      {record.revokedAt && (
        <>
          <dt>Revoked</dt>
          <dd>
            <When at={record.revokedAt} />
          </dd>
        </>
      )}
      <dt>Id</dt>
      <dd>
        <code>{record.id}</code>
      </dd>
    </dl>
  )
}

/** The secret before the last rotation, while it still works. */
function PreviousSecret({ prefix, endsAt, lastUsedAt }: NonNullable<KeyRecord['previousSecret']>) {
  return (
    <>
      <dt>Old secret</dt>
      <dd>
        <code>{prefix}…</code> works until <When at={endsAt} />, last used:{' '}
        <Ago at={lastUsedAt} never="never" />
      </dd>
    </>
  )
}
