import type { EventRecord } from '@wayleave/contract/records'
import type { TableColumn } from '../components/table.tsx'
import { When } from '../components/when.tsx'
import { actionWords, actorWords, detailWords, subjectName } from './event-words.ts'

export const eventColumns: TableColumn<EventRecord>[] = [
  { head: 'When', cell: ({ at }) => <When at={at} /> },
  { head: 'What', cell: ({ action }) => <span title={action}>{actionWords(action)}</span> },
  {
    head: 'To',
    kind: 'long',
    cell: (event) => (
      <>
        <span title={event.subject}>{subjectName(event)}</span>
        <div className="small soft">{detailWords(event)}</div>
      </>
    ),
  },
  { head: 'By', cell: (event) => <span className="one-line">{actorWords(event)}</span> },
  { head: 'From', cell: ({ address }) => <span className="soft">{address ?? '–'}</span> },
]
