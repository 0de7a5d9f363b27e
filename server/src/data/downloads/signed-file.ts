import type { IncomingHttpHeaders } from 'node:http'
import type { Config } from '../../base/settings/config.ts'
import { headerText, isScript, type SignedFile } from './download-responses.ts'
import { type ExportFile, type ExportRequest, fileNameOf } from './exports/export-file.ts'
import type { Exports } from './exports/exports.ts'

interface SignedFileDeps {
  exports: Pick<Exports, 'getStored' | 'forgetDamaged'>
  config: Pick<Config, 'downloads' | 'downloadLinkSeconds'>
}

/**
 * Whether the client may be redirected to the bucket. The store has other tags and times for its objects, so a
 * client that resumes by ours gets the rest from the service.
 */
export function mayRedirect(
  headers: IncomingHttpHeaders,
  { etag }: ExportFile,
  { downloads }: Pick<Config, 'downloads'>,
): boolean {
  const condition = headerText(headers['if-range'])
  const isOurs = condition !== undefined && (condition === etag || !/^(W\/)?"/.test(condition))
  return downloads === 'redirect' && !isOurs && !isScript(headers)
}

/** The file in the bucket; null if clients cannot download it there. */
export async function signedFile(
  request: ExportRequest,
  { exports, config }: SignedFileDeps,
): Promise<SignedFile | null> {
  const sign = async () => {
    const { mediaType, encoding, etag, signedAddress } = await exports.getStored(request)
    const address = await signedAddress({
      lifetime: config.downloadLinkSeconds,
      mediaType,
      filename: fileNameOf(request),
      encoding: encoding === 'identity' ? null : encoding,
    })
    return address === null ? null : { etag, address }
  }
  return sign().catch(async (error: unknown) => {
    if (!(await exports.forgetDamaged(request, error))) throw error
    return sign()
  })
}
