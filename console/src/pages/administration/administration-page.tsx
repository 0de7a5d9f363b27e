import { NavLink, Outlet } from 'react-router'
import { useMe } from '../../api/queries.ts'
import { Empty } from '../../components/page/empty.tsx'
import { TabLinks } from '../../components/tab-links.tsx'
import { site } from '../../site.ts'

/** Pages for platform administrators, with the same operations as the operator's command line. */
export function AdministrationPage() {
  const { data: me } = useMe()
  if (!me?.administrator)
    return (
      <Empty title="This part is for the people who run the service">
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
        <NavLink to="/administration" end>
          Dashboard
        </NavLink>
        <NavLink to="requests">Requests</NavLink>
        <NavLink to="organizations">Organizations</NavLink>
        <NavLink to="users">Users</NavLink>
        <NavLink to="keys">Platform keys</NavLink>
        <NavLink to="datasets">Datasets</NavLink>
        <NavLink to="publish">Publish</NavLink>
        <NavLink to="jobs">Jobs</NavLink>
        {site.sells && <NavLink to="products">Products</NavLink>}
        {site.sells && <NavLink to="orders">Orders</NavLink>}
        {site.sells && <NavLink to="revenue">Revenue</NavLink>}
        <NavLink to="addresses">Addresses</NavLink>
        <NavLink to="webhooks">Webhooks</NavLink>
        <NavLink to="events">Events</NavLink>
      </TabLinks>
      <div>
        <Outlet />
      </div>
    </div>
  )
}
