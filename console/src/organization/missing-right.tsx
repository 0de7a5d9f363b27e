import { MEMBER_PERMISSION_NAMES, type MemberPermission } from '@wayleave/contract/permissions'
import type { OrganizationRecord } from '@wayleave/contract/records'
import { useMembers } from '../api/queries.ts'
import { Empty } from '../components/page/empty.tsx'
import { useTitle } from '../components/page/use-title.ts'
import { lowered } from '../words.ts'

/** One calm sentence for a member who lacks a permission, and whom to ask for it. */
export function MissingRight({
  organization,
  permission,
  page,
}: {
  organization: OrganizationRecord
  permission: MemberPermission
  /** The title of the page that it opens. */
  page: string
}) {
  useTitle(page)
  const { data: members = [] } = useMembers(organization.id)
  const managers = members.filter(({ permissions }) => permissions.includes('MEMBER_MANAGE'))
  return (
    <Empty title={`This page is for members who may ${lowered(MEMBER_PERMISSION_NAMES[permission])}`}>
      <p>
        {managers.length === 0
          ? `Ask somebody who manages ${organization.name}.`
          : `You can ask ${managers.map(({ email }) => email).join(' or ')}.`}
      </p>
    </Empty>
  )
}
