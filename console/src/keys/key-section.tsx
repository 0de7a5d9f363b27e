import type { CreatedKey, KeyRecord } from '@wayleave/contract/records'
import { type ReactNode, useEffect, useState } from 'react'
import { ChoiceBar, ChooseButton } from '../components/choice-bar.tsx'
import { Empty } from '../components/page/empty.tsx'
import { Loaded } from '../components/page/loaded.tsx'
import { useRowChoice } from '../components/use-row-choice.ts'
import { plural } from '../words.ts'
import { CreateKeyDialog, type KeyOwner } from './create-key-dialog.tsx'
import { KeyTable } from './key-table.tsx'
import { RevokeKeysDialog } from './revoke-keys-dialog.tsx'
import { SecretDialog } from './secret-dialog.tsx'

interface KeysQuery {
  data: KeyRecord[] | undefined
  isError: boolean
  error: unknown
  refetch: () => unknown
}

/** The list of one owner's keys, with a button to create one if the user may. */
export function KeySection({
  title,
  about,
  query,
  owner,
  page,
  isCreating = false,
}: {
  title: string
  about: ReactNode
  query: KeysQuery
  /** Null if the user may only view the keys. */
  owner: KeyOwner | null
  page: string
  /** Opens the dialog that creates a key. */
  isCreating?: boolean
}) {
  const [creating, setCreating] = useState(false)
  const [created, setCreated] = useState<(CreatedKey & { isForPages: boolean }) | null>(null)
  useEffect(() => {
    if (isCreating) setCreating(true)
  }, [isCreating])
  const [isRevoking, setRevoking] = useState(false)
  const choosing = useRowChoice({
    rows: query.data ?? [],
    keyOf: ({ id }) => id,
    nameOf: ({ name }) => name,
    canChoose: ({ status }) => owner !== null && status !== 'revoked',
  })
  return (
    <section className="card flush">
      <div className="card-head">
        <div>
          <h2>{title}</h2>
          <p className="small soft">{about}</p>
        </div>
        {owner && (
          <div className="row">
            <ChooseButton choosing={choosing} of={title} />
            <button type="button" className="button primary" onClick={() => setCreating(true)}>
              {owner.title}
            </button>
          </div>
        )}
      </div>
      <Loaded query={query} lines={3}>
        {(keys) =>
          keys.length > 0 ? (
            <KeyTable keys={keys} label={title} page={page} choice={choosing.choice} />
          ) : (
            <Empty title="No keys yet">
              <p>
                {owner
                  ? 'Programs read data with a key. Create one for each program.'
                  : 'Nobody has created one.'}
              </p>
            </Empty>
          )
        }
      </Loaded>
      <ChoiceBar
        choosing={choosing}
        action={choosing.chosen.length === 0 ? 'Revoke' : `Revoke ${plural(choosing.chosen.length, 'key')}`}
        onAction={() => setRevoking(true)}
      />
      {isRevoking && owner && (
        <RevokeKeysDialog
          keys={choosing.chosen}
          path={owner.isPlatform ? '/v1/admin/keys' : '/v1/api-keys'}
          onClose={(hasBegun) => {
            setRevoking(false)
            if (hasBegun) choosing.end()
          }}
        />
      )}
      {creating && owner && (
        <CreateKeyDialog
          owner={owner}
          onClose={() => setCreating(false)}
          onCreated={(key, isForPages) => {
            setCreating(false)
            setCreated({ ...key, isForPages })
          }}
        />
      )}
      {created && (
        <SecretDialog
          title={`The key “${created.name}” works`}
          secret={created.secret}
          isForPages={created.isForPages}
          continueAt={() => document.querySelector(`a[href="${page}/${created.id}"]`)}
          onClose={() => setCreated(null)}
        />
      )}
    </section>
  )
}
