import type { Dataset } from '@wayleave/client'
import { useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import { useKeys, useSession } from '../api/queries.ts'
import { CodeBlock } from '../components/code-block.tsx'
import { Field } from '../components/form/field.tsx'
import { SignInLink } from '../components/page/sign-in-link.tsx'
import { Tabs } from '../components/tabs.tsx'
import { embedQuery, snippetsFor } from './snippet-texts.ts'

/** Code examples with the prefix of one of the user's keys. Only the user knows the rest of the key. */
export function Snippets({ dataset, filter }: { dataset: Dataset; filter: string }) {
  const signedIn = useSession() === 'signed-in'
  const { data: all = [] } = useKeys(signedIn)
  const keys = all.filter(({ status }) => status === 'active')
  const [keyId, setKeyId] = useState('')
  const [language, setLanguage] = useState('curl')
  const [address] = useSearchParams()
  const key = keys.find(({ id }) => id === keyId) ?? keys[0]
  const snippets = snippetsFor(
    dataset,
    location.origin,
    key ? `${key.prefix}…` : 'YOUR_KEY',
    filter,
    embedQuery(dataset, address),
  )
  const snippet = snippets[language] ?? snippets['curl']!
  const names = Object.fromEntries(Object.entries(snippets).map(([id, { name }]) => [id, name]))
  return (
    <div className="stack">
      {key ? (
        <Field
          label="Key"
          help={
            <>
              Put the rest of the secret in place of “…”: only you have it. Lost it? Rotate the key on{' '}
              <Link to={`/keys/${key.id}`}>its page</Link>.
            </>
          }
        >
          {(props) => (
            <select {...props} value={key.id} onChange={(event) => setKeyId(event.target.value)}>
              {keys.map(({ id, name, prefix }) => (
                <option key={id} value={id}>
                  {name} ({prefix}…)
                </option>
              ))}
            </select>
          )}
        </Field>
      ) : (
        <p className="note small">
          {signedIn ? (
            <>
              You have no key yet. <Link to="/keys">Create one</Link> and put it in place of YOUR_KEY.
            </>
          ) : (
            <>
              <SignInLink>Sign in</SignInLink> to create a key, and put it in place of YOUR_KEY.
            </>
          )}
        </p>
      )}
      <Tabs label="Language" tabs={names} chosen={language} onChoose={setLanguage}>
        <div className="stack-small">
          <p className="small soft">{snippet.about}</p>
          <CodeBlock code={snippet.code} label={`${snippet.name} code`} />
        </div>
      </Tabs>
    </div>
  )
}
