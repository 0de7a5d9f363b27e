import { saveFile } from '../datasets/downloads/save-file.ts'
import { problemFrom, unreachable } from './problem.ts'
import { session } from './session.ts'

/** Fetches a file with the session's access token and passes it to the browser. */
export async function download(path: string, name: string): Promise<void> {
  const token = await session.token()
  const response = await fetch(path, { headers: { authorization: `Bearer ${token}` } }).catch(() => {
    throw unreachable()
  })
  if (!response.ok) {
    throw problemFrom(response.status, await response.text(), response.headers.get('x-request-id'))
  }
  saveFile(await response.blob(), name)
}
