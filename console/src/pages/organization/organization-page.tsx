import { useQueryClient } from '@tanstack/react-query'
import type { OrganizationRecord } from '@wayleave/contract/records'
import { Fragment, useState } from 'react'
import { Link, Outlet, useLocation, useNavigate } from 'react-router'
import { leftOrganization } from '../../account/left-organization.ts'
import { call } from '../../api/call.ts'
import { useMe, useOrganization } from '../../api/queries.ts'
import { AddOnBadges } from '../../components/add-on-badges.tsx'
import { ActionDialog } from '../../components/form/action-dialog.tsx'
import { NameField } from '../../components/form/name-field.tsx'
import { Empty } from '../../components/page/empty.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { TabLinks } from '../../components/tab-links.tsx'
import { isPublisher } from '../../datasets/may-change.ts'
import { organizationPart, organizationParts, startsGroup } from '../../finder/pages.ts'
import { DeleteOrganizationDialog } from '../../organization/delete-organization-dialog.tsx'
import { MissingRight } from '../../organization/missing-right.tsx'
import { site } from '../../site.ts'
import { plural } from '../../words.ts'

/** The header of the organization's pages, with tabs for the parts that the user may see. */
export function OrganizationPage() {
  const organization = useOrganization()!
  const { data: me } = useMe()
  const [open, setOpen] = useState<'rename' | 'delete' | null>(null)
  const close = () => setOpen(null)
  const navigate = useNavigate()
  const may = (permission: OrganizationRecord['permissions'][number]) =>
    organization.permissions.includes(permission)
  const part = organizationPart(useLocation().pathname.split('/')[2] ?? '')
  const missing = part?.needs && !may(part.needs) ? part.needs : null
  return (
    <div className="stack sided">
      <div className="page-head">
        <div>
          <h1>{organization.name}</h1>
          <div className="row small soft">
            <span>{plural(organization.credits.balance, 'credit')}</span>
            <AddOnBadges addOns={organization.addOns} none={<span className="badge">No add-on</span>} />
          </div>
        </div>
        {may('MEMBER_MANAGE') && (
          <div className="row">
            <button type="button" className="button" onClick={() => setOpen('rename')}>
              Rename
            </button>
            <button type="button" className="button quiet" onClick={() => setOpen('delete')}>
              Delete
            </button>
          </div>
        )}
      </div>
      {organization.suspendedAt && (
        <p className="note bad">
          The operator has suspended this organization: its keys are refused.{' '}
          {site.contact?.url && <a href={site.contact.url}>{site.contact.name ?? 'Contact the operator'}</a>}
        </p>
      )}
      <TabLinks label="Organization">
        {organizationParts(me, site.sells).map(({ path, title, group }, index, parts) => (
          <Fragment key={path}>
            {startsGroup(parts, index) && <span className="tabs-group">{group}</span>}
            <Link to={path} aria-current={path === part?.path ? 'page' : undefined}>
              {title}
            </Link>
          </Fragment>
        ))}
      </TabLinks>
      <div>
        {missing ? (
          <MissingRight organization={organization} permission={missing} page={part!.title} />
        ) : part?.isForPublishers && !isPublisher(me) ? (
          <NoPublishing page={part.title} />
        ) : (
          <Outlet />
        )}
      </div>
      {open === 'rename' && <RenameDialog organization={organization} onClose={close} />}
      {open === 'delete' && (
        <DeleteOrganizationDialog
          name={organization.name}
          path={`/v1/organization/${organization.id}`}
          onClose={close}
          onDeleted={() => leftOrganization(navigate)}
        />
      )}
    </div>
  )
}

function NoPublishing({ page }: { page: string }) {
  useTitle(page)
  return (
    <Empty title="This organization cannot publish datasets yet">
      <p>
        Only the operator can allow it. <Link to="/organization/access">Ask for it under “Access”.</Link>
      </p>
    </Empty>
  )
}

function RenameDialog({ organization, onClose }: { organization: OrganizationRecord; onClose: () => void }) {
  const queries = useQueryClient()
  const [name, setName] = useState(organization.name)
  return (
    <ActionDialog
      title="Rename the organization"
      action="Rename"
      fields={['/name']}
      onClose={onClose}
      onAction={async () => {
        await call('PATCH', `/v1/organization/${organization.id}`, { name })
        await queries.invalidateQueries({ queryKey: ['me'] })
      }}
    >
      {(error) => (
        <NameField
          name={name}
          onChange={setName}
          help="Its members and the operator see it. Keys and usage stay as they are."
          error={error}
        />
      )}
    </ActionDialog>
  )
}
