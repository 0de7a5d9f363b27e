import { KeyFinder } from '../../administration/key-finder.tsx'
import { usePlatformKeys } from '../../api/queries.ts'
import { useTitle } from '../../components/page/use-title.ts'
import { platformOwner } from '../../keys/create-key-dialog.tsx'
import { KeySection } from '../../keys/key-section.tsx'

export function PlatformKeysPage() {
  useTitle('Platform keys')
  return (
    <div className="stack">
      <KeySection
        title="Platform keys"
        about="The operator’s own: they need no add-on and no credits, and with write they publish."
        query={usePlatformKeys()}
        owner={platformOwner}
        page="/administration/keys"
      />
      <KeyFinder />
    </div>
  )
}
