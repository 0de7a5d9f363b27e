import { DatabaseSync } from 'node:sqlite'
import { ChangeFeed, type Changes, commitNumbered } from './changes.ts'
import type { ControlDatabase } from './open.ts'

interface ChangeRow {
  number: number
  subject: string
  subject_id: string
}

/**
 * On SQLite, `PRAGMA data_version` on a connection that never writes moves with every commit of any other
 * connection, in this process or another. Asking costs a few microseconds, so it is asked before the first
 * use of a cache in each turn of the event loop; only when it moved are the changes themselves read. One
 * look a turn is enough: the requests that a turn handles had arrived before it began, so what another
 * process changes after the look was not finished when they were sent.
 */
export async function openSqliteChanges(database: ControlDatabase): Promise<Changes> {
  const connection = new DatabaseSync(database.file!, { readOnly: true })
  const dataVersion = connection.prepare('pragma data_version')
  const currentNumber = connection.prepare('select number from change_number')
  const changesSince = connection.prepare(
    'select number, subject, subject_id from changes where number > ? order by number',
  )
  const feed = new ChangeFeed()
  let seen = -1
  let lookedThisTurn = false
  const readCurrent = () => (currentNumber.get() as { number: number }).number
  feed.last = readCurrent()

  function catchUp(): void {
    const version = (dataVersion.get() as { data_version: number }).data_version
    if (version === seen) return
    seen = version
    const current = readCurrent()
    if (current > feed.last) feed.apply(changesSince.all(feed.last) as unknown as ChangeRow[], current)
  }

  return {
    async commit(work) {
      const { result, number } = await commitNumbered(database, work)
      if (number !== null) catchUp()
      return result
    },
    trusted() {
      if (lookedThisTurn) return true
      lookedThisTurn = true
      setImmediate(() => {
        lookedThisTurn = false
      })
      catchUp()
      return true
    },
    get applied() {
      return feed.applied
    },
    listen: (listener) => feed.listen(listener),
    async close() {
      connection.close()
    },
  }
}
