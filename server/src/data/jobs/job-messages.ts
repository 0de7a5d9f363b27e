import type { Changes } from '../../base/database/changes/changes.ts'

/**
 * Messages about jobs to all serving processes, so that workers and waiting requests need not wait for the next
 * poll. They may be lost; every receiver polls as well.
 */
export class JobMessages {
  readonly #changes: Pick<Changes, 'sendMessage' | 'onMessage'>

  constructor(changes: Pick<Changes, 'sendMessage' | 'onMessage'>) {
    this.#changes = changes
  }

  sendWaiting(): Promise<void> {
    return this.#changes.sendMessage('job waiting')
  }

  sendEnded(id: string): Promise<void> {
    return this.#changes.sendMessage(`job ended ${id}`)
  }

  sendCancelled(id: string): Promise<void> {
    return this.#changes.sendMessage(`job cancelled ${id}`)
  }

  onWaiting(listener: () => void): void {
    this.#changes.onMessage((message) => {
      if (message === 'job waiting') listener()
    })
  }

  onEnded(listener: (id: string) => void): void {
    this.#onPrefix('job ended ', listener)
  }

  onCancelled(listener: (id: string) => void): void {
    this.#onPrefix('job cancelled ', listener)
  }

  #onPrefix(prefix: string, listener: (id: string) => void): void {
    this.#changes.onMessage((message) => {
      if (message.startsWith(prefix)) listener(message.slice(prefix.length))
    })
  }
}
