import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { StartedCheckout } from '@wayleave/contract/records'
import { useNavigate } from 'react-router'
import { call } from '../api/call.ts'

/** Orders something, and goes to where it is paid, or to the note about the order. */
export function useCheckout(path: string, body: () => object) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: () => call<StartedCheckout>('POST', path, body()),
    onSuccess: async ({ url }) => {
      await queries.invalidateQueries()
      const address = new URL(url, window.location.href)
      if (address.pathname === window.location.pathname) navigate(address.pathname + address.search)
      else window.location.assign(url)
    },
  })
}
