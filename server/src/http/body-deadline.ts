import type { App } from './frame.ts'

/**
 * A body that comes a byte at a time holds memory for as long as it likes. Small bodies are cut off at a
 * deadline; a file may take its time, and is not held in memory, but not a pause of twice as long.
 */
export function addBodyDeadline(app: App, smallBody: number, milliseconds: number): void {
  app.addHook('onRequest', ({ raw, routeOptions }, _reply, done) => {
    const hasBody =
      raw.headers['content-length'] !== undefined || raw.headers['transfer-encoding'] !== undefined
    if (hasBody && routeOptions.bodyLimit <= smallBody) {
      const late = setTimeout(() => raw.complete || raw.destroy(), milliseconds).unref()
      raw.once('close', () => clearTimeout(late))
    } else if (hasBody) {
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
