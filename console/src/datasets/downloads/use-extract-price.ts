import { useQuery } from '@tanstack/react-query'
import { fetchOgc } from '../../api/ogc.ts'

/** What a file of filtered rows costs the user now; undefined while that is not known. */
export function useExtractPrice(url: string, enabled: boolean): number | undefined {
  const { data } = useQuery({
    queryKey: ['extract-price', url],
    queryFn: async ({ signal }) => {
      const response = await fetchOgc(url, signal, 'HEAD')
      return Number(response.headers.get('wayleave-credits') ?? 0)
    },
    enabled,
    // Too many rows, or no right to them: the download itself says so.
    retry: false,
  })
  return data
}
