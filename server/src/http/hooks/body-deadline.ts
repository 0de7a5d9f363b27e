import type { App } from '../frame.ts'

/**
 * A body that comes a byte at a time holds memory for as long as it likes. Small bodies are cut off at a
 * deadline; a file may take its time, and is not held in memory, but not a pause of twice as long. Once it is
 * answered, by a refusal as a rule, nobody wants the rest, and it has as long as a small one.
 */
export function addBodyDeadline(app: App, smallBody: number, milliseconds: number): void {
  app.addHook('onRequest', ({ raw, routeOptions }, reply, done) => {
    const hasBody =
      raw.headers['content-length'] !== undefined || raw.headers['transfer-encoding'] !== undefined
    const setDeadline = () => {
      const late = setTimeout(() => raw.complete || raw.destroy(), milliseconds).unref()
      raw.once('close', () => clearTimeout(late))
    }
    if (hasBody && routeOptions.bodyLimit <= smallBody) setDeadline()
    else if (hasBody) {
      reply.raw.once('finish', () => raw.complete || setDeadline())
      let bytesRead = raw.socket.bytesRead
      const look = setInterval(() => {
        // Where we are the slower side, what has come waits for us.
        const waits = raw.readableLength >= raw.readableHighWaterMark
        if (!raw.complete && !waits && raw.socket.bytesRead === bytesRead) raw.destroy()
        bytesRead = raw.socket.bytesRead
      }, 2 * milliseconds).unref()
      raw.once('close', () => clearInterval(look))
    }
    done()
  })
}
