import { useDeferredValue, useState } from 'react'
import { useAdminUsers } from '../api/queries.ts'
import { Empty } from '../components/empty.tsx'
import { Field } from '../components/field.tsx'
import { Loaded } from '../components/loaded.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { Scroll } from '../components/scroll.tsx'
import { useTitle } from '../components/use-title.ts'
import { Day, When } from '../components/when.tsx'

export function UsersPage() {
  useTitle('Users')
  const [search, setSearch] = useState('')
  const users = useAdminUsers(useDeferredValue(search))
  return (
    <section className="card flush">
      <div className="card-head">
        <Field label="Search">
          {(props) => (
            <input
              {...props}
              type="search"
              placeholder="Mail address or id"
              value={search}
              onChange={(event) => setSearch(event.target.value)}
            />
          )}
        </Field>
      </div>
      <Loaded query={users} lines={6}>
        {({ pages }) => {
          const rows = pages.flatMap(({ data }) => data)
          if (rows.length === 0) return <Empty title="No user matches" />
          return (
            <>
              <Scroll label="Users">
                <table>
                  <thead>
                    <tr>
                      <th scope="col">Mail address</th>
                      <th scope="col">Organization</th>
                      <th scope="col">Since</th>
                      <th scope="col">Last sign-in</th>
                    </tr>
                  </thead>
                  <tbody>
                    {rows.map((user) => (
                      <tr key={user.id}>
                        <th scope="row">{user.email}</th>
                        <td>{user.organizationName ?? <span className="soft">None</span>}</td>
                        <td>
                          <Day at={user.createdAt} />
                        </td>
                        <td>
                          <When at={user.lastSignInAt} />
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </Scroll>
              <MoreButton query={users} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}
