import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { unpackDebianProgram } from './debian.ts'
import { startThrowAwayServer, type ThrowAwayServer } from './throw-away-server.ts'

const root = join(import.meta.dirname, '../..')

/** The path of nginx. Installing the package would start a server on port 80. */
function ensureNginx(): string {
  return unpackDebianProgram('nginx', 'nginx', join(root, '.cache', 'nginx'), 'usr/sbin')
}

/** Starts nginx on loopback. `site` returns what goes into the http block, for a port and a cache folder. */
export function startNginx(site: (port: number, cache: string) => string): Promise<ThrowAwayServer> {
  return startThrowAwayServer({
    name: 'nginx',
    stopSignal: 'SIGTERM',
    async prepare(folder, port) {
      for (const name of ['cache', 'temporary']) mkdirSync(join(folder, name))
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${join(folder, 'temporary', name)};`,
      )
      const lines = [
        'daemon off;',
        'worker_processes 1;',
        `pid ${join(folder, 'nginx.pid')};`,
        `error_log ${join(folder, 'error.log')};`,
        // Workers of a server that was started by root run as another user otherwise, without access here.
        ...(process.getuid?.() === 0 ? ['user root;'] : []),
        'events { worker_connections 512; }',
        'http {',
        'access_log off;',
        ...temporary,
        site(port, join(folder, 'cache')),
        '}',
      ]
      const file = join(folder, 'nginx.conf')
      writeFileSync(file, lines.join('\n'))
      return {
        command: [ensureNginx(), '-p', folder, '-c', file, '-e', join(folder, 'error.log')],
        url: `http://127.0.0.1:${port}`,
      }
    },
    isReady: (port) =>
      new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1')
        socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
        socket.on('connect', () => socket.destroy())
      }),
  })
}
