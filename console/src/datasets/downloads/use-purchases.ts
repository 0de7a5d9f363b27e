import { useQuery } from '@tanstack/react-query'
import type { PurchaseRecord } from '@wayleave/contract/records'
import { readOgc } from '../../api/ogc.ts'

/** What the user has paid for and may download again without paying. */
export function usePurchases(table: string, enabled: boolean): PurchaseRecord[] {
  const { data } = useQuery({
    queryKey: ['purchases', table],
    queryFn: ({ signal }) =>
      readOgc<{ data: PurchaseRecord[] }>(`/v1/dataset/${encodeURIComponent(table)}/purchases`, signal),
    enabled,
  })
  return data?.data ?? []
}
