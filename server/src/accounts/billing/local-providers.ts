import type { PaymentProvider } from './payment-provider.ts'

/** Pays at once. For trying the service on one machine. */
export const demoProvider: PaymentProvider = {
  name: 'demo',
  issuesInvoices: true,
  begin: async ({ id, returnUrl }) => ({ reference: id, url: returnUrl, isPaid: true }),
  paymentOf: async () => null,
  refund: async () => {},
  cancelPlan: async () => {},
  repricePlan: async () => {},
  portal: async () => null,
}

/** An order is open until an administrator marks it as paid. Money is returned by the administrator. */
export const invoiceProvider: PaymentProvider = {
  name: 'invoice',
  issuesInvoices: true,
  begin: async ({ id, returnUrl }) => ({ reference: id, url: returnUrl, isPaid: false }),
  paymentOf: async () => null,
  refund: async () => {},
  cancelPlan: async () => {},
  repricePlan: async () => {},
  portal: async () => null,
}
