import type { Sink } from './deliver.ts'
import { WayleaveError } from './errors.ts'

/** The part of Node's Writable that a download needs. */
export interface NodeWritable {
  write(chunk: Uint8Array, done: (error?: Error | null) => void): unknown
  end(done: () => void): unknown
  destroy(error?: Error): unknown
  on(event: 'error' | 'close', listener: (error?: Error) => void): unknown
  off(event: 'error' | 'close', listener: (error?: Error) => void): unknown
}

export interface StreamSink extends Sink {
  end(): Promise<void>
  fail(error: unknown): void
}

/** The stream accepts each chunk before the next one is fetched (backpressure), and is closed as by `pipeTo`. */
export function streamSink(stream: WritableStream<Uint8Array> | NodeWritable): StreamSink {
  if (typeof stream !== 'object' || stream === null || !('getWriter' in stream || 'write' in stream)) {
    throw new TypeError(
      "downloadTo() takes a stream third, such as createWriteStream('places.csv') of node:fs.",
    )
  }
  return 'getWriter' in stream ? webSink(stream) : nodeSink(stream)
}

function webSink(stream: WritableStream<Uint8Array>): StreamSink {
  const writer = stream.getWriter()
  return {
    write: (chunk) => writer.write(chunk),
    end: () => writer.close(),
    fail: (error) => void writer.abort(error).catch(() => {}),
  }
}

function nodeSink(stream: NodeWritable): StreamSink {
  let broken: unknown
  let reject = (_error: unknown) => {}
  const onBreak = (error?: Error) => {
    broken ??= error ?? new WayleaveError('The stream was closed before the download ended.')
    reject(broken)
  }
  stream.on('error', onBreak)
  stream.on('close', onBreak)
  const settled = (start: (done: (error?: Error | null) => void) => void) =>
    new Promise<void>((resolve, rejectThis) => {
      reject = rejectThis
      if (broken) rejectThis(broken)
      else start((error) => (error ? rejectThis(error) : resolve()))
    })
  return {
    write: (chunk) => settled((done) => stream.write(chunk, done)),
    end: async () => {
      stream.off('close', onBreak)
      await settled((done) => stream.end(done))
      stream.off('error', onBreak)
    },
    fail: (error) => void stream.destroy(error as Error),
  }
}
