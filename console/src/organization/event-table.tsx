import type { EventRecord } from '@wayleave/contract/records'
import { Table } from '../components/table.tsx'
import { When } from '../components/when.tsx'
import { detailWords, subjectName } from './event-words.ts'

/** `nameOf` returns the name of an actor or a subject, if it is known. */
export function EventTable({
  rows,
  nameOf = () => undefined,
}: {
  rows: EventRecord[]
  nameOf?: (id: string) => string | undefined
}) {
  return (
    <Table
      label="Events"
      isNamed={false}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { head: 'When', cell: ({ at }) => <When at={at} /> },
        { head: 'What', cell: ({ action }) => <code>{action}</code> },
        {
          head: 'To',
          kind: 'long',
          cell: (event) => (
            <>
              {subjectName(event, nameOf(event.subject))}
              <div className="small soft">{detailWords(event)}</div>
            </>
          ),
        },
        { head: 'By', cell: ({ actor }) => nameOf(actor) ?? actor },
        { head: 'From', cell: ({ address }) => <span className="soft">{address ?? '–'}</span> },
      ]}
    />
  )
}
