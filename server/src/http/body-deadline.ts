import type { App } from './frame.ts'

/**
 * A body that comes a byte at a time holds memory for as long as it likes. Small bodies are cut off at a
 * deadline; a file may take its time, and is not held in memory.
 */
export function addBodyDeadline(app: App, smallBody: number, milliseconds: number): void {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    if (request.routeOptions.bodyLimit <= smallBody && !request.raw.complete) {
      const late = setTimeout(() => request.raw.destroy(), milliseconds).unref()
      request.raw.once('close', () => clearTimeout(late)).once('end', () => clearTimeout(late))
    }
    done(null, payload)
  })
}
