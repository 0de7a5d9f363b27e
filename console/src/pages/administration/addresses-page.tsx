import { useQueryClient } from '@tanstack/react-query'
import type { AddressBlock } from '@wayleave/contract/records'
import { useState } from 'react'
import { BlockAddressDialog } from '../../administration/block-address-dialog.tsx'
import { call } from '../../api/call.ts'
import { useAddressBlocks } from '../../api/queries.ts'
import { ActionDialog } from '../../components/form/action-dialog.tsx'
import { RowButton } from '../../components/form/row-button.tsx'
import { ListCard } from '../../components/list-card.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { When } from '../../components/when.tsx'

/** Networks whose requests are refused. */
export function AddressesPage() {
  useTitle('Blocked addresses')
  const queries = useQueryClient()
  const [isAdding, setIsAdding] = useState(false)
  const [removing, setRemoving] = useState<AddressBlock | null>(null)
  return (
    <ListCard
      label="Blocked addresses"
      head={
        <>
          <h2>Blocked addresses</h2>
          <button type="button" className="button" onClick={() => setIsAdding(true)}>
            Block an address
          </button>
        </>
      }
      query={useAddressBlocks()}
      keyOf={({ id }) => id}
      empty={{
        title: 'No address is blocked',
        text: <p>A block refuses all requests of an address or a network, whatever their key.</p>,
      }}
      lines={4}
      columns={[
        { head: 'Network', cell: ({ network }) => <code>{network}</code> },
        { head: 'Reason', kind: 'long', cell: ({ reason }) => reason },
        { head: 'Since', cell: ({ createdAt }) => <When at={createdAt} /> },
        { head: 'Ends', cell: ({ expiresAt }) => <When at={expiresAt} never="When it is removed" /> },
        {
          head: 'Actions',
          kind: 'actions',
          cell: (block) => (
            <RowButton
              label="Remove"
              of={`the block of ${block.network}`}
              onClick={() => setRemoving(block)}
            />
          ),
        },
      ]}
    >
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
    </ListCard>
  )
}
