import { useQueryClient } from '@tanstack/react-query'
import { ADD_ONS, type AddOn } from '@wayleave/contract/add-ons'
import type { PlanLimits, Product } from '@wayleave/contract/records'
import { useState } from 'react'
import { AddOnsField } from '../access/add-ons-field.tsx'
import { call } from '../api/call.ts'
import { fieldErrorOf } from '../api/problem.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'
import { Field } from '../components/form/field.tsx'
import { NumberField, numberOf, textOf } from '../components/form/number-field.tsx'
import { amountPattern, amountText, minorUnits, money } from './money.ts'

interface ProductForm {
  kind: Product['kind']
  period: 'month' | 'year'
  name: string
  description: string
  price: string
  currency: string
  credits: string
  addOns: AddOn[]
  keepsCredits: boolean
  limits: Record<keyof PlanLimits, string>
}

const LIMIT_LABELS: Record<keyof PlanLimits, string> = {
  requestsPerMinute: 'Requests a minute',
  featuresPerDay: 'Features a day',
  keys: 'Keys',
  members: 'Members',
}
const LIMITS = Object.keys(LIMIT_LABELS) as (keyof PlanLimits)[]

const EMPTY: ProductForm = {
  kind: 'pack',
  period: 'month',
  name: '',
  description: '',
  price: '10.00',
  currency: 'EUR',
  credits: '100',
  addOns: [],
  keepsCredits: false,
  limits: { requestsPerMinute: '', featuresPerDay: '', keys: '', members: '' },
}

/** Adds a product, or a revision of one. */
export function ProductDialog({ product, onClose }: { product: Product | null; onClose: () => void }) {
  const queries = useQueryClient()
  const [form, setForm] = useState<ProductForm>(product ? formOf(product) : EMPTY)
  const change = (values: Partial<ProductForm>) => setForm({ ...form, ...values })
  const isPlan = form.kind === 'plan'
  return (
    <ActionDialog
      title={product ? `Change ${product.name}` : 'Add a product'}
      action={product ? 'Add the revision' : 'Add the product'}
      fields={['/name', '/price', '/currency']}
      onClose={onClose}
      onAction={async () => {
        const body = bodyOf(form)
        if (product) await call('PATCH', `/v1/admin/products/${product.id}`, body)
        else
          await call('POST', '/v1/admin/products', {
            ...body,
            kind: form.kind,
            ...(isPlan && { period: form.period }),
          })
        await queries.invalidateQueries()
      }}
    >
      {(error) => (
        <>
          {product ? (
            <p className="soft">Orders and plans keep the revision that was bought.</p>
          ) : (
            <KindFields form={form} change={change} />
          )}
          <TextFields form={form} change={change} error={error} />
          <NumberField
            label="Credits"
            value={form.credits}
            onChange={(credits) => change({ credits })}
            help={isPlan ? 'For each period.' : 'For each pack.'}
          />
          {isPlan && (
            <>
              <AddOnsField offered={ADD_ONS} chosen={form.addOns} onChange={(addOns) => change({ addOns })} />
              <label className="choice">
                <input
                  type="checkbox"
                  checked={form.keepsCredits}
                  onChange={(event) => change({ keepsCredits: event.target.checked })}
                />
                <span>Credits that are left at the end of a period are kept</span>
              </label>
              <LimitFields form={form} change={change} />
            </>
          )}
        </>
      )}
    </ActionDialog>
  )
}

interface FieldsProps {
  form: ProductForm
  change: (values: Partial<ProductForm>) => void
}

function KindFields({ form, change }: FieldsProps) {
  return (
    <>
      <Field label="Kind">
        {(props) => (
          <select
            {...props}
            value={form.kind}
            onChange={(event) => change({ kind: event.target.value as ProductForm['kind'] })}
          >
            <option value="pack">Credit pack</option>
            <option value="plan">Plan</option>
          </select>
        )}
      </Field>
      {form.kind === 'plan' && (
        <Field label="Period">
          {(props) => (
            <select
              {...props}
              value={form.period}
              onChange={(event) => change({ period: event.target.value as ProductForm['period'] })}
            >
              <option value="month">Month</option>
              <option value="year">Year</option>
            </select>
          )}
        </Field>
      )}
    </>
  )
}

function TextFields({ form, change, error }: FieldsProps & { error: unknown }) {
  return (
    <>
      <Field label="Name" wrong={fieldErrorOf(error, '/name')}>
        {(props) => (
          <input
            {...props}
            required
            maxLength={100}
            value={form.name}
            onChange={(event) => change({ name: event.target.value })}
          />
        )}
      </Field>
      <Field label="Description">
        {(props) => (
          <textarea
            {...props}
            rows={2}
            maxLength={1000}
            value={form.description}
            onChange={(event) => change({ description: event.target.value })}
          />
        )}
      </Field>
      <PriceFields form={form} change={change} error={error} />
    </>
  )
}

function PriceFields({ form, change, error }: FieldsProps & { error: unknown }) {
  const amount = minorUnits(form.price, form.currency)
  const wrong = fieldErrorOf(error, '/price')
  return (
    <div className="inline-form">
      <Field
        label="Price"
        help={amount === null ? 'Such as 19.00.' : priceWords(amount, form)}
        {...(wrong && { wrong })}
      >
        {(props) => (
          <input
            {...props}
            required
            inputMode="decimal"
            pattern={amountPattern(form.currency)}
            title="An amount, such as 19.00"
            value={form.price}
            onChange={(event) => change({ price: event.target.value })}
          />
        )}
      </Field>
      <Field label="Currency" help="Three letters." wrong={fieldErrorOf(error, '/currency')}>
        {(props) => (
          <input
            {...props}
            required
            pattern="[A-Z]{3}"
            title="Three capital letters, such as EUR"
            value={form.currency}
            onChange={(event) => change({ currency: event.target.value.toUpperCase() })}
          />
        )}
      </Field>
    </div>
  )
}

/** What a plan limits while it lasts. */
function LimitFields({ form, change }: FieldsProps) {
  return (
    <fieldset>
      <legend>Limits</legend>
      <p className="help">Empty: as without a plan.</p>
      <div className="inline-form">
        {LIMITS.map((name) => (
          <NumberField
            key={name}
            label={LIMIT_LABELS[name]}
            value={form.limits[name]}
            onChange={(value) => change({ limits: { ...form.limits, [name]: value } })}
            min={1}
            max={name === 'keys' || name === 'members' ? 1_000_000 : 100_000_000}
            isOptional
          />
        ))}
      </div>
    </fieldset>
  )
}

function priceWords(amount: number, { currency, kind, period }: ProductForm): string {
  const price = /^[A-Z]{3}$/.test(currency) ? money(amount, currency) : ''
  return kind === 'plan' ? `${price} a ${period}, without tax.` : `${price} each, without tax.`
}

function formOf(product: Product): ProductForm {
  const { kind, period, name, description, price, currency, credits, addOns, keepsCredits } = product
  const limits = Object.fromEntries(LIMITS.map((limit) => [limit, textOf(product.limits[limit])]))
  return {
    ...{ kind, name, description, currency, addOns, keepsCredits },
    period: period ?? 'month',
    price: amountText(price, currency),
    credits: String(credits),
    limits: limits as ProductForm['limits'],
  }
}

function bodyOf(form: ProductForm) {
  const { kind, name, description, price, currency, credits, addOns, keepsCredits } = form
  const common = { name, description, price: minorUnits(price, currency), currency, credits: Number(credits) }
  const limits = Object.fromEntries(LIMITS.map((limit) => [limit, numberOf(form.limits[limit])]))
  return kind === 'plan' ? { ...common, addOns, keepsCredits, limits } : common
}

export function RetireDialog({ product, onClose }: { product: Product; onClose: () => void }) {
  const queries = useQueryClient()
  return (
    <ActionDialog
      title={`Stop selling ${product.name}?`}
      action="Stop selling it"
      danger
      onClose={onClose}
      onAction={async () => {
        await call('POST', `/v1/admin/products/${product.id}/retire`)
        await queries.invalidateQueries()
      }}
    >
      <p>Nobody can buy it any more, and this cannot be undone. Plans that were bought go on.</p>
    </ActionDialog>
  )
}
