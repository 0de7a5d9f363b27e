import type { IncomingMessage } from 'node:http'
import { basename, join, relative } from 'node:path'
import type { Config } from '../../base/settings/config.ts'
import { TrustedProxies } from '../../http/caller.ts'
import type { ExportFile } from './exports/export-file.ts'

/** Where nginx has the folder of snapshots, for internal redirects only; see docs/operating.md. */
const LOCATION = '/wayleave-files/'
/** Conditions that nginx would compare with its own idea of the file. */
const PROXY_CONDITIONS = ['if-match', 'if-unmodified-since'] as const

export type ProxiedRequest = Pick<IncomingMessage, 'method' | 'headers'> & {
  socket?: { remoteAddress?: string | undefined }
}

/** Whether the proxy in front of the service sends files, and which. */
export class ProxyFiles {
  readonly #isOn: boolean
  readonly #proxies: TrustedProxies

  constructor({ downloads, trustedProxies }: Pick<Config, 'downloads' | 'trustedProxies'>) {
    this.#isOn = downloads === 'accel'
    this.#proxies = new TrustedProxies(trustedProxies)
  }

  /**
   * The address by which the proxy finds the file; null if the service has to send it: to a client that did not come
   * through the proxy, a file in a bucket, one that is assembled of parts, or one that is checked while it is sent.
   */
  addressOf({ headers, socket }: ProxiedRequest, file: ExportFile, snapshotFolder: string): string | null {
    if (!this.#isOn || !this.#proxies.has(socket?.remoteAddress)) return null
    if (PROXY_CONDITIONS.some((name) => headers[name] !== undefined)) return null
    if (file.localPath === null || file.head.length > 0 || file.tail.length > 0) return null
    if (file.checked && !file.checked.isVerified()) return null
    const path = join(basename(snapshotFolder), relative(snapshotFolder, file.localPath))
    return LOCATION + path.split('/').map(encodeURIComponent).join('/')
  }
}
