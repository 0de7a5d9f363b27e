import { Fragment } from 'react'
import { Link, NavLink, Outlet } from 'react-router'
import { useMe } from '../../api/queries.ts'
import { Empty } from '../../components/page/empty.tsx'
import { TabLinks } from '../../components/tab-links.tsx'
import { administrationParts, startsGroup } from '../../finder/pages.ts'
import { site } from '../../site.ts'

/** Pages for platform administrators, with the same operations as the operator's command line. */
export function AdministrationPage() {
  const { data: me } = useMe()
  if (!me?.administrator)
    return (
      <Empty title="This part is for the people who run the service">
        <p>
          <Link to="/datasets">Go to the datasets</Link>
        </p>
        {site.contact?.url && (
          <p>
            If you need something from them, write to{' '}
            <a href={site.contact.url}>{site.contact.name ?? 'the operator'}</a>.
          </p>
        )}
      </Empty>
    )
  return (
    <div className="stack sided">
      <div className="page-head">
        <div>
          <h1>Administration</h1>
          <p>The whole service: its organizations, users, keys, datasets and events.</p>
        </div>
      </div>
      <TabLinks label="Administration">
        {administrationParts(site.sells).map(({ path, title, group }, index, parts) => (
          <Fragment key={path}>
            {startsGroup(parts, index) && <span className="tabs-group">{group}</span>}
            <NavLink to={path === '' ? '/administration' : `/administration/${path}`} end={path === ''}>
              {title}
            </NavLink>
          </Fragment>
        ))}
      </TabLinks>
      <div>
        <Outlet />
      </div>
    </div>
  )
}
