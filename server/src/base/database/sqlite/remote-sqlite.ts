import type { ThreadLink } from '../../threads/thread-link.ts'
import { fromRemoteError, type RemoteError, toRemoteError } from '../remote-error.ts'
import type {
  OwnSession,
  OwnSqlite,
  SqliteCommand,
  SqliteOutcome,
  SqliteSession,
  SqliteSource,
} from './sqlite-source.ts'

/** What a serving thread asks of the first one. */
export type SqliteQuestion = { session: number } & (
  | { command: SqliteCommand; isRead: boolean }
  | { rollback: true }
)

type SqliteAnswer = SqliteOutcome | { error: RemoteError }

/** Executes the statements of one other serving thread: all threads of a process have one writer and one reader. */
export class SqliteHost {
  readonly #source: OwnSqlite
  /** Those that may have the writer's turn. */
  readonly #sessions = new Map<number, OwnSession>()

  constructor(source: OwnSqlite) {
    this.#source = source
  }

  async answer(question: SqliteQuestion): Promise<SqliteAnswer> {
    const session = this.#sessionOf(question)
    try {
      if ('command' in question) return await session.run(question.command, question.isRead)
      await session.rollback()
      return {}
    } catch (error) {
      return { error: toRemoteError(error) }
    }
  }

  release(session: number): void {
    this.#sessions.get(session)?.release()
    this.#sessions.delete(session)
  }

  /** The other thread has ended. */
  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()]
    this.#sessions.clear()
    await Promise.all(sessions.map((session) => session.abandon()))
  }

  #sessionOf(question: SqliteQuestion): OwnSession {
    const current = this.#sessions.get(question.session)
    if (current) return current
    const session = this.#source.session()
    const mayWrite = !('command' in question && question.isRead)
    if (mayWrite) this.#sessions.set(question.session, session)
    return session
  }
}

/** The database of the first serving thread. */
export class RemoteSqlite implements SqliteSource {
  readonly #first: Pick<ThreadLink, 'ask' | 'tell'>
  #lastSession = 0
  pending = 0

  constructor(first: Pick<ThreadLink, 'ask' | 'tell'>) {
    this.#first = first
  }

  async open(): Promise<void> {}

  session(): SqliteSession {
    const session = ++this.#lastSession
    let mayWrite = false
    return {
      run: (command, isRead) => {
        mayWrite ||= !isRead
        return this.#ask({ session, command, isRead })
      },
      rollback: async () => {
        await this.#ask({ session, rollback: true })
      },
      release: () => {
        if (mayWrite) this.#first.tell('sqliteRelease', session)
      },
    }
  }

  async close(): Promise<void> {}

  async #ask(question: SqliteQuestion): Promise<SqliteOutcome> {
    this.pending++
    const answer = await this.#first.ask<SqliteAnswer>('sqlite', question).finally(() => this.pending--)
    if ('error' in answer) throw fromRemoteError(answer.error)
    return answer
  }
}
