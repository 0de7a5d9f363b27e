import { useEffect } from 'react'
import { useSearchParams } from 'react-router'
import { useKeys, useOrganization } from '../../api/queries.ts'
import { useTitle } from '../../components/page/use-title.ts'
import { organizationOwner, personalOwner } from '../../keys/create-key-dialog.tsx'
import { KeySection } from '../../keys/key-section.tsx'

export function KeysPage() {
  useTitle('Keys')
  const keys = useKeys()
  const organization = useOrganization()!
  // The finder leads here. The address does not keep it, so that the page can be loaded again.
  const [parameters, setParameters] = useSearchParams()
  const isCreating = parameters.has('create')
  useEffect(() => {
    if (isCreating) setParameters({}, { replace: true })
  }, [isCreating])
  const may = (permission: (typeof organization.permissions)[number]) =>
    organization.permissions.includes(permission)
  const only = (scope: string) => ({ ...keys, data: keys.data?.filter((key) => key.scope === scope) })
  return (
    <div className="stack">
      <div className="page-head">
        <div>
          <h1>Keys</h1>
          <p>Programs read data with a key. Each key has its own permissions, expiry and usage.</p>
        </div>
      </div>
      <KeySection
        title="Personal keys"
        about="Only you see and manage them. They stop working when you leave the organization."
        query={only('user')}
        owner={personalOwner}
        page="/keys"
        isCreating={isCreating}
      />
      {may('APIKEY_VIEW') && (
        <KeySection
          title={`Keys of ${organization.name}`}
          about={
            may('APIKEY_CREATE')
              ? 'Shared by the organization. They keep working when the member who created them leaves.'
              : 'Shared by the organization. You can see them; members who may “Manage keys” can change them.'
          }
          query={only('organization')}
          owner={may('APIKEY_CREATE') ? organizationOwner(organization.id) : null}
          page="/keys"
        />
      )}
    </div>
  )
}
