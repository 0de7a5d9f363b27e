import { once } from 'node:events'
import { createServer } from 'node:net'

interface Place {
  host: string
  port: number
}

/** Throws an error with a sentence for the operator if no server can listen there. */
export async function requireFreePort({ host, port }: Place): Promise<void> {
  if (port === 0) return
  const server = createServer()
  try {
    server.listen({ host, port, exclusive: true })
    await once(server, 'listening')
  } catch (error) {
    throw portError(error, { host, port })
  }
  server.close()
  await once(server, 'close')
}

/** The error of listening as a sentence that says what to do. Other errors are returned as they are. */
export function portError(error: unknown, { host, port }: Place): unknown {
  const { code } = error as NodeJS.ErrnoException
  const other = port < 1024 ? 8080 : port === 65535 ? 8080 : port + 1
  const sentences: Record<string, string> = {
    EADDRINUSE: `Another program uses port ${port} of ${host}. Stop it, or choose another port, such as --port ${other}.`,
    EACCES: `This user may not listen on port ${port}. Choose another port, such as --port ${other}.`,
    EADDRNOTAVAIL: `This machine does not have the address ${host}. Choose another one with --host.`,
    ENOTFOUND: `The address ${host} cannot be resolved. Choose another one with --host.`,
  }
  const sentence = sentences[code ?? '']
  return sentence ? new Error(sentence, { cause: error }) : error
}
