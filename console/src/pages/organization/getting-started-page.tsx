import type { Dataset } from '@wayleave/client'
import type { AddOn } from '@wayleave/contract/add-ons'
import type { CreatedKey, KeyRecord } from '@wayleave/contract/records'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { useDatasets, useKeys, useMe, useUsage } from '../../api/queries.ts'
import { AddOnBadges } from '../../components/add-on-badges.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { Icon } from '../../components/icon.tsx'
import { Loaded } from '../../components/page/loaded.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { CreateKeyDialog, personalOwner } from '../../keys/create-key-dialog.tsx'
import { SecretDialog } from '../../keys/secret-dialog.tsx'
import { lastDays, plural } from '../../words.ts'

/** Three steps to the first working request, checked off as they are done. */
export function GettingStartedPage() {
  useTitle('Getting started')
  const me = useMe().data!
  const keys = useKeys()
  const datasets = useDatasets()
  const [created, setCreated] = useState<CreatedKey | null>(null)
  const active = keys.data?.filter(({ status }) => status === 'active') ?? []
  // The key that was just created, else one that has been used, else a personal key, else any.
  const key =
    active.find(({ id }) => id === created?.id) ??
    active.find(({ lastUsedAt }) => lastUsedAt !== null) ??
    active.find(({ scope }) => scope === 'user') ??
    active[0]
  const organization = me.organization!
  return (
    <div className="stack">
      <div className="page-head">
        <div>
          <h1>Getting started</h1>
          <p>Three steps to your first working request.</p>
        </div>
      </div>
      <div className="columns">
        <section className="card" aria-label="Steps">
          <Loaded query={keys} lines={9}>
            {() => (
              <ol className="steps">
                <Step done number={1} title="Sign in">
                  <p className="soft">You are signed in as {me.user.email}.</p>
                </Step>
                <KeyStep keyRecord={key} onCreated={setCreated} />
                {key ? (
                  <RequestStep
                    key={key.id}
                    keyRecord={key}
                    secret={created?.id === key.id ? created.secret : undefined}
                    url={firstRequest(datasets.data ?? [], organization.addOns)}
                  />
                ) : (
                  <Step done={false} number={3} title="Send a request">
                    <p className="soft">With the key, from a terminal.</p>
                  </Step>
                )}
              </ol>
            )}
          </Loaded>
        </section>
        <section className="card stack-small">
          <h2>{organization.name}</h2>
          <dl className="facts">
            <dt>Credits</dt>
            <dd>{plural(organization.credits.balance, 'credit')}</dd>
            <dt>Add-ons</dt>
            <dd>
              <AddOnBadges addOns={organization.addOns} none="None yet" />{' '}
              {organization.addOns.length === 0 && <Link to="/organization/access">Request access</Link>}
            </dd>
            <dt>Datasets</dt>
            <dd>
              <Link to="/datasets">
                {datasets.data ? plural(datasets.data.length, 'dataset') : 'See them'}
              </Link>
            </dd>
          </dl>
        </section>
      </div>
    </div>
  )
}

function Step({
  number,
  title,
  done,
  children,
}: {
  number: number
  title: string
  done: boolean
  children: ReactNode
}) {
  return (
    <li className="step" data-done={done}>
      <span className={`tick${done ? ' done' : ''}`}>{done ? <Icon name="check" /> : number}</span>
      <div className="stack-small">
        <h2>
          {title} <span className="visually-hidden">{done ? '(done)' : '(to do)'}</span>
        </h2>
        {children}
      </div>
    </li>
  )
}

function KeyStep({
  keyRecord,
  onCreated,
}: {
  keyRecord: KeyRecord | undefined
  onCreated: (key: CreatedKey) => void
}) {
  const [creating, setCreating] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  return (
    <Step done={keyRecord !== undefined} number={2} title="Create a key">
      {keyRecord ? (
        <p className="soft">
          <Link to={`/keys/${keyRecord.id}`}>{keyRecord.name}</Link> begins with{' '}
          <code>{keyRecord.prefix}</code>.
        </p>
      ) : (
        <>
          <p className="soft">Programs read data with a key. Its secret is shown once.</p>
          <div>
            <button type="button" className="button primary" onClick={() => setCreating(true)}>
              Create a personal key
            </button>
          </div>
        </>
      )}
      {creating && (
        <CreateKeyDialog
          owner={personalOwner}
          onClose={() => setCreating(false)}
          onCreated={(key) => {
            setCreating(false)
            setSecret(key.secret)
            onCreated(key)
          }}
        />
      )}
      {secret && <SecretDialog title="Your key works" secret={secret} onClose={() => setSecret(null)} />}
    </Step>
  )
}

/** Polls until the key's first call is recorded. */
function RequestStep({
  keyRecord,
  secret,
  url,
}: {
  keyRecord: KeyRecord
  secret: string | undefined
  url: string
}) {
  const [range] = useState(() => lastDays(30, Date.now()))
  const [seen, setSeen] = useState(keyRecord.lastUsedAt !== null)
  const usage = useUsage(`/v1/api-keys/${keyRecord.id}/usage`, range, seen ? 0 : 3000)
  const calls = usage.data?.totals.calls ?? 0
  if (calls > 0 && !seen) setSeen(true)
  return (
    <Step done={seen} number={3} title="Send a request">
      <p className="soft">
        Paste this into a terminal{secret ? '.' : ', with the rest of your key’s secret in place of “…”.'}
      </p>
      <CodeBlock
        label="First request"
        code={`export WAYLEAVE_API_KEY='${secret ?? `${keyRecord.prefix}…`}'\ncurl -H "X-API-Key: $WAYLEAVE_API_KEY" '${url}'`}
      />
      <p className={`note${seen ? ' good' : ''}`} role="status">
        {seen ? (
          <>
            It works: {calls > 0 ? `the key has made ${plural(calls, 'call')}` : 'the key is in use'}.{' '}
            <Link to={`/keys/${keyRecord.id}`}>See its usage</Link>, or{' '}
            <Link to="/datasets">go on to the datasets</Link>.
          </>
        ) : (
          'Waiting for the first request of this key…'
        )}
      </p>
    </Step>
  )
}

/** A request that works with the organization's add-ons. */
function firstRequest(datasets: Dataset[], addOns: AddOn[]): string {
  const { origin } = location
  const dataset = datasets.find(({ bbox }) => bbox) ?? datasets[0]
  if (!dataset) return `${origin}/v1/datasets`
  if (addOns.includes('GIS_ACCESS')) return `${origin}/v1/ogc/collections/${dataset.table}/items?limit=3`
  return `${origin}/v1/dataset/${dataset.table}`
}
