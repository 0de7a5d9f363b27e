import type { Dataset } from '@wayleave/client'
import type { MapLook } from '@wayleave/contract/map-style'
import type { CreatedKey } from '@wayleave/contract/records'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { useMe, useSession } from '../api/queries.ts'
import { CodeBlock } from '../components/code-block.tsx'
import { SignInLink } from '../components/page/sign-in-link.tsx'
import { Tabs } from '../components/tabs.tsx'
import { writeAddress } from '../explorer/address.ts'
import { CreateKeyDialog, personalOwner } from '../keys/create-key-dialog.tsx'
import { SecretDialog } from '../keys/secret-dialog.tsx'
import { embedQuery, snippetsFor } from './snippet-texts.ts'

/** Code examples, which read the key from the environment, and a way to get a key in place. */
export function Snippets({
  dataset,
  filter,
  look,
}: {
  dataset: Dataset
  filter: string
  /** How the map shows the dataset, which the frame for other pages does too. */
  look: MapLook
}) {
  const [language, setLanguage] = useState('curl')
  const [address] = useSearchParams()
  const snippets = snippetsFor(
    dataset,
    location.origin,
    filter,
    embedQuery(dataset, writeAddress(address, { look })),
  )
  const snippet = snippets[language] ?? snippets['curl']!
  const names = Object.fromEntries(Object.entries(snippets).map(([id, { name }]) => [id, name]))
  return (
    <div className="stack">
      {/* A frame has no key. The secret of a key that was created here stays. */}
      <div hidden={language === 'embed'}>
        <KeyLine title={dataset.title} />
      </div>
      <Tabs label="Language" tabs={names} chosen={language} onChoose={setLanguage}>
        <div className="stack-small">
          <p className="small soft">{snippet.about}</p>
          <CodeBlock code={snippet.code} label={`${snippet.name} code`} />
        </div>
      </Tabs>
    </div>
  )
}

/** The line that puts a key into the environment. Only its owner knows a secret, unless it was created just now. */
function KeyLine({ title }: { title: string }) {
  const isSignedIn = useSession() === 'signed-in'
  const hasOrganization = Boolean(useMe().data?.organization)
  const [open, setOpen] = useState<'create' | 'secret' | null>(null)
  const [created, setCreated] = useState<CreatedKey | null>(null)
  if (!isSignedIn) {
    return (
      <p className="note small">
        <SignInLink>Sign in</SignInLink> to create a key for this. The code reads it from the environment
        variable WAYLEAVE_API_KEY.
      </p>
    )
  }
  return (
    <section className="stack-small" aria-label="The key">
      <div className="row spread">
        <p className="small soft">
          {created
            ? `The code below reads the key “${created.name}” from this variable. The secret is shown until you leave the page.`
            : 'The code below reads your key from this variable. Set it once in the terminal:'}
        </p>
        {hasOrganization && (
          <button type="button" className="button small" onClick={() => setOpen('create')}>
            Create a key for this
          </button>
        )}
      </div>
      <CodeBlock
        code={`export WAYLEAVE_API_KEY='${created?.secret ?? 'the secret of your key'}'`}
        label="The key in the environment"
      />
      {open === 'create' && (
        <CreateKeyDialog
          owner={personalOwner}
          suggestedName={title.slice(0, 100)}
          onClose={() => setOpen(null)}
          onCreated={(key) => {
            setCreated(key)
            setOpen('secret')
          }}
        />
      )}
      {open === 'secret' && created && (
        <SecretDialog title="Your key works" secret={created.secret} onClose={() => setOpen(null)} />
      )}
    </section>
  )
}
