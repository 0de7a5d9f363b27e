import { useQuery } from '@tanstack/react-query'
import type { PaymentProviderName } from '@wayleave/contract/billing-states'
import type {
  AdminOrder,
  BillingProfile,
  BillingReport,
  InvoiceRecord,
  Order,
  Page,
  PlanUpgrade,
  Product,
  SubscriptionRecord,
} from '@wayleave/contract/records'
import { call } from './call.ts'
import { ProblemError } from './problem.ts'
import { useAdminRows } from './queries.ts'

const useBilling = <T>(path: string) =>
  useQuery({ queryKey: ['billing', path], queryFn: () => call<T>('GET', `/v1/billing/${path}`) })

export const useOffer = () => useBilling<{ data: Product[]; providers: PaymentProviderName[] }>('products')
export const useOrders = () => useBilling<Page<Order, string>>('orders?limit=100')
export const useInvoices = () => useBilling<{ data: InvoiceRecord[] }>('invoices')
export const useBillingProfile = () => useBilling<BillingProfile>('profile')

/** The plan of the organization; null without one. */
export function usePlan() {
  return useQuery({
    queryKey: ['billing', 'subscription'],
    queryFn: () =>
      call<SubscriptionRecord>('GET', '/v1/billing/subscription').catch((error: unknown) => {
        if (error instanceof ProblemError && error.status === 404) return null
        throw error
      }),
  })
}

/** What larger plans cost now. */
export function useUpgrades() {
  return useQuery({
    queryKey: ['billing', 'upgrades'],
    queryFn: async () =>
      (await call<{ data: PlanUpgrade[] }>('GET', '/v1/billing/subscription/upgrades')).data,
  })
}

const PAYMENT_POLL_MS = 2000

/** An order; asked for again while its payment is under way. */
export function useOrder(id: string | null) {
  return useQuery({
    queryKey: ['billing', 'order', id],
    queryFn: () => call<Order>('GET', `/v1/billing/orders/${id}`),
    enabled: id !== null,
    refetchInterval: ({ state }) =>
      state.data?.state === 'open' && state.data.provider === 'stripe' ? PAYMENT_POLL_MS : false,
  })
}

export const useProducts = () =>
  useQuery({
    queryKey: ['admin', 'products'],
    queryFn: async () => (await call<{ data: Product[] }>('GET', '/v1/admin/products')).data,
  })

export const useAdminOrders = (state: string) => useAdminRows<AdminOrder>('/v1/admin/orders', { state })

/** Revenue and credits of a range of times. */
export const useBillingReport = (range: string) =>
  useQuery({
    queryKey: ['admin', 'billing-report', range],
    queryFn: () => call<BillingReport>('GET', `/v1/admin/billing/report?${range}`),
  })
