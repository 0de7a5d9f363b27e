import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useSearchParams } from 'react-router'
import { call } from '../api/call.ts'
import { useDatasets, useMe, useOrganization } from '../api/queries.ts'
import { post } from '../api/session.ts'
import { Field } from '../components/form/field.tsx'
import { Empty } from '../components/page/empty.tsx'
import { Loaded } from '../components/page/loaded.tsx'
import { ProblemNote } from '../components/page/problem-note.tsx'
import { useTitle } from '../components/page/use-title.ts'

const REQUIRED = ['client_id', 'redirect_uri', 'response_type', 'code_challenge', 'code_challenge_method']
const PARAMETERS = [...REQUIRED, 'state', 'resource', 'scope']
const DAYS = [7, 30, 90, 365]

/** Who asks, as the service could find out. */
interface Asking {
  name: string
  host: string | null
  returnsTo: string
  refusal: string
}

/** The page to which a program sends its user to ask for access: who asks for what, and the user's answer. */
export function ConnectPage() {
  useTitle('Connect an assistant')
  const [address] = useSearchParams()
  const request = Object.fromEntries([...address].filter(([name]) => PARAMETERS.includes(name)))
  const isComplete = REQUIRED.every((name) => request[name])
  const asking = useQuery({
    queryKey: ['assistant', request],
    queryFn: () => post<Asking>('/v1/assistants/request', request),
    enabled: isComplete,
    retry: false,
  })
  if (!isComplete)
    return (
      <Empty title="This link to connect an assistant is not complete">
        <p>Start again from your assistant: it opens this page with what it asks for.</p>
        <p>
          <a href="/docs/assistants">How to connect an assistant</a>
        </p>
      </Empty>
    )
  return (
    <div className="narrow stack">
      <Loaded query={asking} lines={4} heading="Connect an assistant">
        {(client) => <ConsentForm client={client} request={request} />}
      </Loaded>
    </div>
  )
}

function ConsentForm({ client, request }: { client: Asking; request: Record<string, string> }) {
  const me = useMe()
  const organization = useOrganization()
  const [isAll, setIsAll] = useState(true)
  const [tables, setTables] = useState<string[]>([])
  const [days, setDays] = useState(30)
  const [credits, setCredits] = useState('0')
  const agree = useMutation({
    mutationFn: () =>
      call<{ redirect: string }>('POST', '/v1/assistants/consent', {
        request,
        tables: isAll ? null : tables,
        days,
        credits: Number(credits),
      }),
    onSuccess: ({ redirect }) => window.location.assign(redirect),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    agree.mutate()
  }
  return (
    <form className="stack" onSubmit={submit}>
      <h1>
        <span dir="auto">{client.name}</span> wants to read data for you
      </h1>
      <p>
        {client.host === null ? (
          'It calls itself so; nobody has checked this name.'
        ) : (
          <>
            It is published by <strong>{client.host}</strong>.
          </>
        )}{' '}
        You return to <strong>{client.returnsTo}</strong>. If you did not start this yourself, refuse.
      </p>
      <p className="small soft">
        You are signed in as {me.data?.user.email}
        {organization && (
          <>
            {' '}
            and act for <strong dir="auto">{organization.name}</strong>
          </>
        )}
        . It gets a key of yours, which you can see, limit and revoke under Keys at any time.
      </p>
      <fieldset className="stack-small">
        <legend>It may read</legend>
        <label className="choice">
          <input type="radio" name="reach" checked={isAll} onChange={() => setIsAll(true)} />
          <span>All datasets that you may read</span>
        </label>
        <label className="choice">
          <input type="radio" name="reach" checked={!isAll} onChange={() => setIsAll(false)} />
          <span>Only some</span>
        </label>
        {!isAll && <DatasetChoice chosen={tables} onChoose={setTables} />}
      </fieldset>
      <Field label="For how long">
        {(props) => (
          <select {...props} value={days} onChange={(event) => setDays(Number(event.target.value))}>
            {DAYS.map((each) => (
              <option key={each} value={each}>
                {each} days
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field
        label="Credits that it may spend in a month"
        help="For downloads of whole datasets. Reading and counting rows costs none."
      >
        {(props) => (
          <input
            {...props}
            type="number"
            required
            min={0}
            max={1_000_000}
            value={credits}
            onChange={(event) => setCredits(event.target.value)}
          />
        )}
      </Field>
      {agree.isError && <ProblemNote error={agree.error} />}
      <div className="dialog-foot">
        <a className="button" href={client.refusal}>
          Refuse
        </a>
        <button
          type="submit"
          className="button primary"
          disabled={agree.isPending || agree.isSuccess || (!isAll && tables.length === 0)}
        >
          Allow
        </button>
      </div>
    </form>
  )
}

function DatasetChoice({ chosen, onChoose }: { chosen: string[]; onChoose: (tables: string[]) => void }) {
  const datasets = useDatasets()
  const toggle = (table: string) =>
    onChoose(chosen.includes(table) ? chosen.filter((each) => each !== table) : [...chosen, table])
  return (
    <Loaded query={datasets} lines={3}>
      {(all) => (
        <div className="stack-small dataset-choice">
          {all.map(({ table, title }) => (
            <label key={table} className="choice">
              <input type="checkbox" checked={chosen.includes(table)} onChange={() => toggle(table)} />
              <span dir="auto">{title}</span>
            </label>
          ))}
        </div>
      )}
    </Loaded>
  )
}
