import { ADD_ON_NAMES } from '@wayleave/contract/add-ons'
import type { AccessRequest } from '@wayleave/contract/records'
import { EmailAddress } from '../components/email-address.tsx'
import type { TableColumn } from '../components/table.tsx'
import { Ago } from '../components/when.tsx'
import { plural } from '../words.ts'

const states: Record<AccessRequest['state'], [style: string, word: string]> = {
  open: ['warn', 'Open'],
  granted: ['good', 'Granted'],
  declined: ['', 'Declined'],
}

/** The columns that members and administrators see of a request. */
export const requestColumns: TableColumn<AccessRequest>[] = [
  {
    head: 'Asked for',
    cell: ({ addOns, credits }) => {
      const parts = addOns.map((addOn) => ADD_ON_NAMES[addOn])
      if (credits > 0) parts.push(plural(credits, 'credit'))
      return parts.map((part) => (
        <div key={part} className="nowrap">
          {part}
        </div>
      ))
    },
  },
  {
    head: 'State',
    cell: ({ state }) => <span className={`badge ${states[state][0]}`}>{states[state][1]}</span>,
  },
  { head: 'By', cell: ({ requestedBy }) => <EmailAddress email={requestedBy} /> },
  {
    head: 'Message',
    kind: 'long',
    cell: ({ message, note }) => (
      <>
        {message || <span className="soft">–</span>}
        {note && <div className="small soft">The operator: {note}</div>}
      </>
    ),
  },
  { head: 'When', cell: ({ createdAt }) => <Ago at={createdAt} /> },
]
