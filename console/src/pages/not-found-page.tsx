import { Link } from 'react-router'
import { Empty } from '../components/page/empty.tsx'
import { useTitle } from '../components/page/use-title.ts'

export function NotFoundPage() {
  useTitle('Not found')
  return (
    <div className="stack">
      <h1 className="visually-hidden">Not found</h1>
      <Empty title="There is nothing at this address">
        <Link to="/datasets">See the datasets</Link>
      </Empty>
    </div>
  )
}
