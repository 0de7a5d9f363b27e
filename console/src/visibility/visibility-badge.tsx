import type { Visibility } from '@wayleave/contract/visibilities'
import { VISIBILITY_WORDS } from './visibility-words.ts'

/** Says who sees a dataset; nothing for a public one, as most are. */
export function VisibilityBadge({ visibility }: { visibility: Visibility }) {
  if (visibility === 'public') return null
  const { name, meaning } = VISIBILITY_WORDS[visibility]
  return (
    <span className={visibility === 'open' ? 'badge good' : 'badge'} title={meaning}>
      {name}
    </span>
  )
}
