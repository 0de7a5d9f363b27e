import type { Product } from '@wayleave/contract/records'
import { useState } from 'react'
import { useProducts } from '../../api/billing-queries.ts'
import { money } from '../../billing/money.ts'
import { ProductDialog, RetireDialog } from '../../billing/product-dialogs.tsx'
import { AddOnBadges } from '../../components/add-on-badges.tsx'
import { RowButton } from '../../components/form/row-button.tsx'
import { ListCard } from '../../components/list-card.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { count } from '../../words.ts'

type Open = { kind: 'add' } | { kind: 'change' | 'retire'; product: Product }

/** What is sold: credit packs and plans. */
export function ProductsPage() {
  useTitle('Products')
  const [open, setOpen] = useState<Open | null>(null)
  const close = () => setOpen(null)
  return (
    <ListCard
      label="Products"
      head={
        <>
          <h2>Products</h2>
          <button type="button" className="button" onClick={() => setOpen({ kind: 'add' })}>
            Add a product
          </button>
        </>
      }
      query={useProducts()}
      keyOf={({ id }) => id}
      empty={{
        title: 'Nothing is sold yet',
        text: <p>Credit packs are bought once; plans give credits and add-ons every month.</p>,
      }}
      columns={[
        {
          head: 'Name',
          kind: 'long',
          cell: ({ id, kind, revision, name, retiredAt }) => (
            <>
              {name} {retiredAt && <span className="badge">Not sold</span>}
              <div className="small soft">
                {kind === 'pack' ? 'Credit pack' : 'Plan'}, revision {revision}
              </div>
              <div className="small soft mono">{id}</div>
            </>
          ),
        },
        {
          head: 'Price',
          kind: 'number',
          cell: ({ price, currency, period }) => `${money(price, currency)}${period ? ` a ${period}` : ''}`,
        },
        { head: 'Credits', kind: 'number', cell: ({ credits }) => count(credits) },
        {
          head: 'Add-ons',
          cell: ({ addOns }) => <AddOnBadges addOns={addOns} none={<span className="soft">–</span>} />,
        },
        {
          head: 'Actions',
          kind: 'actions',
          cell: (product) =>
            product.retiredAt === null && (
              <>
                <RowButton
                  label="Change"
                  of={product.name}
                  onClick={() => setOpen({ kind: 'change', product })}
                />
                <RowButton
                  label="Stop selling"
                  of={product.name}
                  onClick={() => setOpen({ kind: 'retire', product })}
                />
              </>
            ),
        },
      ]}
    >
      {open?.kind === 'add' && <ProductDialog product={null} onClose={close} />}
      {open?.kind === 'change' && <ProductDialog product={open.product} onClose={close} />}
      {open?.kind === 'retire' && <RetireDialog product={open.product} onClose={close} />}
    </ListCard>
  )
}
