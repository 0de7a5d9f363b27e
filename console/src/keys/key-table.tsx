import { Link } from 'react-router'
import type { KeyRecord } from '../api/records.ts'
import { Scroll } from '../components/scroll.tsx'
import { Day, When } from '../components/when.tsx'
import { permissionWords } from './key-permissions.ts'
import { KeyStatus } from './key-status.tsx'

export function KeyTable({ keys, label, page }: { keys: KeyRecord[]; label: string; page: string }) {
  return (
    <Scroll label={label}>
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Status</th>
            <th scope="col">Begins with</th>
            <th scope="col">Permissions</th>
            <th scope="col">Last used</th>
            <th scope="col">Expires</th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id}>
              <th scope="row">
                <Link to={`${page}/${key.id}`}>{key.name}</Link>
              </th>
              <td>
                <KeyStatus record={key} />
              </td>
              <td>
                <code className="nowrap">{key.prefix}…</code>
              </td>
              <td>{permissionWords(key.permissions)}</td>
              <td>
                <When at={key.lastUsedAt} />
              </td>
              <td>{key.expiresAt ? <Day at={key.expiresAt} /> : <span className="soft">Never</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
