import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { startThrowAwayServer, type ThrowAwayServer } from './throw-away-server.ts'

/** Starts a private Redis on loopback, without persistence. */
export function startRedis(): Promise<ThrowAwayServer> {
  const password = randomBytes(18).toString('base64url')
  return startThrowAwayServer({
    name: 'redis',
    stopSignal: 'SIGTERM',
    async prepare(folder, port) {
      // The configuration is passed on standard input, so that the password is not in the process list.
      const input = [
        `port ${port}`,
        'bind 127.0.0.1',
        `dir ${folder}`,
        `requirepass ${password}`,
        'save ""',
        'appendonly no',
        'daemonize no',
      ].join('\n')
      return { command: ['redis-server', '-'], input, url: `redis://default:${password}@127.0.0.1:${port}` }
    },
    isReady: (port) => answersPing(port, password),
  })
}

function answersPing(port: number, password: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let reply = ''
    socket.on('connect', () => socket.write(`AUTH ${password}\r\nPING\r\n`))
    socket.on('data', (chunk) => {
      reply += chunk
      if (reply.includes('+PONG')) {
        resolve(true)
        socket.destroy()
      }
    })
    socket.on('error', () => resolve(false))
    socket.on('close', () => resolve(false))
  })
}
