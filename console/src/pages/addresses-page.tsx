import { useQueryClient } from '@tanstack/react-query'
import type { AddressBlock } from '@wayleave/contract/records'
import { useState } from 'react'
import { BlockAddressDialog } from '../administration/block-address-dialog.tsx'
import { call } from '../api/call.ts'
import { useAddressBlocks } from '../api/queries.ts'
import { ActionDialog } from '../components/action-dialog.tsx'
import { Empty } from '../components/empty.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Table } from '../components/table.tsx'
import { useTitle } from '../components/use-title.ts'
import { When } from '../components/when.tsx'

/** Networks whose requests are refused. */
export function AddressesPage() {
  useTitle('Blocked addresses')
  const queries = useQueryClient()
  const blocks = useAddressBlocks()
  const [isAdding, setIsAdding] = useState(false)
  const [removing, setRemoving] = useState<AddressBlock | null>(null)
  return (
    <section className="card flush">
      <div className="card-head">
        <h2>Blocked addresses</h2>
        <button type="button" className="button" onClick={() => setIsAdding(true)}>
          Block an address
        </button>
      </div>
      <Loaded query={blocks} lines={4}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No address is blocked" />
          ) : (
            <Table
              label="Blocked addresses"
              rows={rows}
              keyOf={({ id }) => id}
              columns={[
                { head: 'Network', cell: ({ network }) => <code>{network}</code> },
                { head: 'Reason', kind: 'long', cell: ({ reason }) => reason },
                { head: 'Since', cell: ({ createdAt }) => <When at={createdAt} /> },
                {
                  head: 'Ends',
                  cell: ({ expiresAt }) => <When at={expiresAt} never="When it is removed" />,
                },
                {
                  head: 'Actions',
                  kind: 'actions',
                  cell: (block) => (
                    <button
                      type="button"
                      className="button quiet small"
                      aria-label={`Remove the block of ${block.network}`}
                      onClick={() => setRemoving(block)}
                    >
                      Remove
                    </button>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      {isAdding && <BlockAddressDialog onClose={() => setIsAdding(false)} />}
      {removing && (
        <ActionDialog
          title={`Remove the block of ${removing.network}?`}
          action="Remove the block"
          onClose={() => setRemoving(null)}
          onAction={async () => {
            await call('DELETE', `/v1/admin/address-blocks/${removing.id}`)
            await queries.invalidateQueries({ queryKey: ['admin'] })
          }}
        >
          <p>Requests from it are served again.</p>
        </ActionDialog>
      )}
    </section>
  )
}
