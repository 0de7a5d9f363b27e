import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { startThrowAwayServer, type ThrowAwayServer } from './throw-away-server.ts'

export interface S3Server extends ThrowAwayServer {
  /** The variables by which AWS tools and the service find their credentials. */
  variables: { AWS_ACCESS_KEY_ID: string; AWS_SECRET_ACCESS_KEY: string }
}

/** The bucket that exists in it. Each test uses a prefix of its own. */
const TEST_BUCKET = 'wayleave'

/** Starts a private S3 server on loopback: `rclone serve s3`, which is a package of the Python environment. */
export async function startS3(python: string): Promise<S3Server> {
  const variables = {
    AWS_ACCESS_KEY_ID: randomBytes(10).toString('hex'),
    AWS_SECRET_ACCESS_KEY: randomBytes(20).toString('hex'),
  }
  const server = await startThrowAwayServer({
    name: 's3',
    stopSignal: 'SIGTERM',
    async prepare(folder, port) {
      mkdirSync(join(folder, TEST_BUCKET))
      const key = `${variables.AWS_ACCESS_KEY_ID},${variables.AWS_SECRET_ACCESS_KEY}`
      const program = join(dirname(python), 'rclone')
      return {
        command: [
          program,
          'serve',
          's3',
          '--config',
          '',
          '--addr',
          `127.0.0.1:${port}`,
          '--auth-key',
          key,
          folder,
        ],
        url: `http://127.0.0.1:${port}`,
      }
    },
    isReady: (port) =>
      fetch(`http://127.0.0.1:${port}/`).then(
        // Without credentials: any response shows that it listens.
        () => true,
        () => false,
      ),
  })
  return { ...server, variables }
}
