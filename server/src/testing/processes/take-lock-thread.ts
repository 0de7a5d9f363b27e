import { parentPort } from 'node:worker_threads'
import { tryLock } from '../../base/locks/file-lock.ts'

// Takes and releases a lock as it is told, and answers whether it got it.
let release: (() => void) | null = null

parentPort!.on('message', (message: { take: string } | 'release') => {
  if (message === 'release') {
    release?.()
    release = null
  } else {
    release = tryLock(message.take)
  }
  parentPort!.postMessage(release !== null)
})
