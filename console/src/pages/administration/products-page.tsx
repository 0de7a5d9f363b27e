import type { Product } from '@wayleave/contract/records'
import { useState } from 'react'
import { useProducts } from '../../api/billing-queries.ts'
import { money } from '../../billing/money.ts'
import { ProductDialog, RetireDialog } from '../../billing/product-dialogs.tsx'
import { addOnWords } from '../../components/add-on-badges.tsx'
import { RowMenu } from '../../components/form/row-menu.tsx'
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
          kind: 'line',
          cell: ({ name, retiredAt }) => (
            <>
              {name} {retiredAt && <span className="badge">Not sold</span>}
            </>
          ),
        },
        {
          head: 'Kind',
          cell: ({ kind, revision }) => (
            <span className="nowrap">
              {kind === 'pack' ? 'Credit pack' : 'Plan'}{' '}
              {revision > 1 && <span className="small soft">revision {revision}</span>}
            </span>
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
          cell: ({ addOns }) => (
            <span className="soft nowrap">{addOns.length === 0 ? '–' : addOnWords(addOns)}</span>
          ),
        },
        {
          head: 'Actions',
          kind: 'menu',
          cell: (product) => {
            const isSold = product.retiredAt === null
            return (
              <RowMenu
                of={product.name}
                actions={[
                  isSold && { label: 'Change', onChoose: () => setOpen({ kind: 'change', product }) },
                  isSold && {
                    label: 'Stop selling',
                    isDanger: true,
                    onChoose: () => setOpen({ kind: 'retire', product }),
                  },
                ]}
                id={product.id}
              />
            )
          },
        },
      ]}
    >
      {open?.kind === 'add' && <ProductDialog product={null} onClose={close} />}
      {open?.kind === 'change' && <ProductDialog product={open.product} onClose={close} />}
      {open?.kind === 'retire' && <RetireDialog product={open.product} onClose={close} />}
    </ListCard>
  )
}
