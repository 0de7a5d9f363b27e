import { DatabaseSync } from 'node:sqlite'
import { ChangeFeed, type Changes, commitNumbered } from './changes.ts'
import type { ControlDatabase } from './open.ts'

const LOOK_HOLDS_MS = 1

interface ChangeRow {
  number: number
  subject: string
  subject_id: string
}

/**
 * On SQLite, `PRAGMA data_version` on a connection that never writes moves with every commit of any other
 * connection, in this process or another. Asking costs a few microseconds, so it is asked once a millisecond
 * where a cache is used; only when it moved are the changes themselves read. That is enough: from its commit
 * to its end a command takes longer than a look holds, so a request that is sent after the command meets a
 * later look.
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
  let lookHoldsUntil = 0
  const readCurrent = () => (currentNumber.get() as { number: number }).number
  feed.last = readCurrent()

  function catchUp(): void {
    const version = (dataVersion.get() as { data_version: number }).data_version
    if (version === seen) return
    const current = readCurrent()
    if (current > feed.last) feed.apply(changesSince.all(feed.last) as unknown as ChangeRow[], current)
    // Last: what fails on the way is looked at again.
    seen = version
  }

  return {
    async commit(work) {
      const { result, number } = await commitNumbered(database, work)
      if (number !== null) catchUp()
      return result
    },
    trusted() {
      const now = performance.now()
      if (now < lookHoldsUntil) return true
      catchUp()
      lookHoldsUntil = now + LOOK_HOLDS_MS
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
