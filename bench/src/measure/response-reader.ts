/** The part of a response that comes next. */
type Part = 'head' | 'body' | 'chunk-size' | 'chunk-data' | 'chunk-end' | 'trailer'

const maxHeadBytes = 64 * 1024

/**
 * Only finds where the responses on one connection end, because the load generator must cost less than the
 * servers it measures. One response at a time is in progress.
 */
export class ResponseReader {
  status = 0
  readonly #onAnswer: (status: number) => void
  #part: Part = 'head'
  #line = ''
  #remainingBytes = 0

  constructor(onAnswer: (status: number) => void) {
    this.#onAnswer = onAnswer
  }

  /** Processes the next bytes of the connection; they are not kept, so the buffer may be reused. */
  take(bytes: Buffer): void {
    let at = 0
    while (at < bytes.length) {
      if (this.#part === 'head') at = this.#takeHead(bytes, at)
      else if (this.#part === 'body' || this.#part === 'chunk-data') at = this.#skip(bytes, at)
      else at = this.#takeChunkLine(bytes, at)
    }
  }

  #takeHead(bytes: Buffer, at: number): number {
    const split = this.#line.length
    const end = split === 0 ? bytes.indexOf('\r\n\r\n', at, 'latin1') : -1
    if (end >= 0) {
      this.#readHead(bytes.toString('latin1', at, end))
      return end + 4
    }
    // The head arrived in pieces, which is rare, so concatenating strings is cheap enough.
    this.#line += bytes.toString('latin1', at)
    if (this.#line.length > maxHeadBytes) throw new Error('The head of a response has no end')
    const joinedEnd = this.#line.indexOf('\r\n\r\n')
    if (joinedEnd < 0) return bytes.length
    const head = this.#line.slice(0, joinedEnd)
    this.#line = ''
    this.#readHead(head)
    return at + joinedEnd + 4 - split
  }

  #readHead(head: string): void {
    if (!head.startsWith('HTTP/1.1 ')) throw new Error(`Not a response: ${head.slice(0, 40)}`)
    this.status = Number(head.slice(9, 12))
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)
    if (length) this.#remainingBytes = Number(length[1])
    const isChunked = !length && /\r\ntransfer-encoding: *chunked/i.test(head)
    if (isChunked) this.#part = 'chunk-size'
    else if (length && this.#remainingBytes > 0 && this.status !== 304) this.#part = 'body'
    else this.#end()
  }

  #skip(bytes: Buffer, at: number): number {
    const skipped = Math.min(this.#remainingBytes, bytes.length - at)
    this.#remainingBytes -= skipped
    if (this.#remainingBytes === 0) {
      if (this.#part === 'body') this.#end()
      else this.#part = 'chunk-end'
    }
    return at + skipped
  }

  #takeChunkLine(bytes: Buffer, at: number): number {
    const newline = bytes.indexOf(10, at)
    if (newline < 0) {
      this.#line += bytes.toString('latin1', at)
      return bytes.length
    }
    const line = (this.#line + bytes.toString('latin1', at, newline)).trimEnd()
    this.#line = ''
    if (this.#part === 'chunk-end') this.#part = 'chunk-size'
    else if (this.#part === 'trailer') {
      if (line === '') this.#end()
    } else {
      this.#remainingBytes = Number.parseInt(line, 16)
      if (Number.isNaN(this.#remainingBytes)) throw new Error(`Not the size of a chunk: ${line.slice(0, 40)}`)
      this.#part = this.#remainingBytes === 0 ? 'trailer' : 'chunk-data'
    }
    return newline + 1
  }

  #end(): void {
    this.#part = 'head'
    this.#remainingBytes = 0
    this.#onAnswer(this.status)
  }
}
