import { QueryClient } from '@tanstack/react-query'
import { asProblem } from './problem.ts'

/**
 * Requests are sent even if the browser believes that it is offline: the service may run on the same machine or network. By
 * default they would wait, and a cancelled rotation of a key would be done when the connection returns.
 */
const networkMode = 'always'

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode,
      staleTime: 10_000,
      retry: (failures, error) => failures < 2 && [0, 503].includes(asProblem(error).status),
    },
    mutations: { networkMode },
  },
})
