import { BoundedCache } from '@wayleave/geodata/base'
import type { Grant } from '../../accounts/access/grant.ts'
import { matchesEtag } from '../../http/headers.ts'
import { type DataResponse, emptyResponse, HEAD_ROOM } from '../../http/sockets/data-response.ts'
import type { Exchange } from '../../http/sockets/exchange.ts'
import type { Encoding } from '../request/encodings.ts'
import { releaseBuffer, takeBuffer } from '../write/page-buffers.ts'
import { documentHeaderLines, weakTag } from '../write/respond.ts'

/** A document as the bytes to send, and its tag. See docs/decisions/two-transports.md. */
interface FinishedDocument {
  tag: string
  bytes: Buffer
}

/** The variants (encodings, base URLs, rights) of the documents that are made of one object. */
const MAX_VARIANTS = 64
const NO_PIECES: readonly Buffer[] = []

/**
 * Documents as finished bytes. A document is made once for each object that it is made of (a dataset, the
 * list of datasets), which the catalog replaces when anything changes, and for each variant.
 */
export class FinishedDocuments {
  readonly #byOwner = new WeakMap<object, BoundedCache<string, FinishedDocument>>()

  /** `variant` names everything else that determines the text. */
  respond(
    exchange: Exchange,
    owner: object,
    variant: string,
    encoding: Encoding,
    makeText: () => string,
    grant: Grant | null = null,
  ): DataResponse {
    const document = this.#document(owner, variant, encoding, makeText)
    const { commonLines, bodyLines } = documentHeaderLines(encoding, document.tag, grant)
    exchange.addHeaderLines(commonLines)
    if (matchesEtag(exchange.request.headers['if-none-match'], document.tag)) return emptyResponse(304)
    exchange.addHeaderLines(bodyLines)
    // A copy, because the head is written into the buffer before the body, and several may be sent at once.
    const { bytes } = document
    const { buffer, sizeClass } = takeBuffer(HEAD_ROOM + bytes.length)
    const end = HEAD_ROOM + bytes.copy(buffer, HEAD_ROOM)
    const release = () => releaseBuffer(sizeClass, buffer)
    return { status: 200, text: '', bytes: buffer, start: HEAD_ROOM, end, pieces: NO_PIECES, release }
  }

  #document(owner: object, variant: string, encoding: Encoding, makeText: () => string): FinishedDocument {
    let variants = this.#byOwner.get(owner)
    if (variants === undefined) {
      variants = new BoundedCache(MAX_VARIANTS)
      this.#byOwner.set(owner, variants)
    }
    let document = variants.get(variant)
    if (document === undefined) {
      const text = makeText()
      const tag = weakTag(encoding.mediaType + text)
      document = { tag, bytes: Buffer.from(text) }
      variants.set(variant, document)
    }
    return document
  }
}
