import { data } from '../../api/data.ts'
import { queryClient } from '../../api/queries.ts'
import { fileName } from '../../words.ts'
import { startDownload, stopDownload, useStoredDownload } from './download-store.ts'

/** Without a version, the prefix of the files of the current one. */
export function fileKeyPrefix(table: string, version?: number): string {
  return `${table}/${version ?? 'current'}/`
}

/** Downloads a whole file with the session's key. */
export function useDownload(table: string, format: string, version?: number) {
  const key = fileKeyPrefix(table, version) + format
  const { state } = useStoredDownload(key)
  const start = async () => {
    await startDownload(key, {
      fileName: fileName(table, format, version),
      fetchFile: (signal, onProgress) =>
        data.download(table, format, { as: 'blob', version, signal, onProgress }),
    })
    // The balance, the ledger, the purchases and the sizes of files have changed.
    for (const name of ['me', 'rows', 'purchases', 'datasets'])
      queryClient.invalidateQueries({ queryKey: [name] })
  }
  return { state, start, stop: () => stopDownload(key) }
}
