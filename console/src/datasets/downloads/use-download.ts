import { data } from '../../api/data.ts'
import { queryClient } from '../../api/query-client.ts'
import { fileName } from '../../words.ts'
import { type DownloadState, startDownload, stopDownload, useStoredDownload } from './download-store.ts'

/** Without a version, the prefix of the files of the current one. */
export function fileKeyPrefix(table: string, version?: number): string {
  return `${table}/${version ?? 'current'}/`
}

export interface WholeFile {
  table: string
  format: string
  /** An earlier version; without it, the current one. */
  version?: number
  /** The number of the current version, whose file replaces the one of the version before. */
  currentVersion?: number
  /** What the page says that it costs; if it costs more meanwhile, the download fails. */
  maxCredits?: number
}

/** Downloads a whole file with the session's key. */
export function useDownload({ table, format, version, currentVersion, maxCredits }: WholeFile) {
  const key = fileKeyPrefix(table, version) + format
  const query = String(version ?? currentVersion)
  const download = useStoredDownload(key)
  const isOfThisVersion = download.query === query || download.state.kind === 'running'
  const state: DownloadState = isOfThisVersion ? download.state : { kind: 'idle' }
  const start = async () => {
    await startDownload(key, {
      query,
      fileName: fileName(table, format, version),
      fetchFile: (signal, onProgress) =>
        data.download(table, format, { as: 'blob', version, maxCredits, signal, onProgress }),
    })
    // The balance, the ledger, the purchases and the sizes of files have changed.
    for (const name of ['me', 'rows', 'purchases', 'datasets'])
      queryClient.invalidateQueries({ queryKey: [name] })
  }
  return { state, start, stop: () => stopDownload(key) }
}
