import { DatabaseError, type DatabaseFailure } from './database-error.ts'

/** An error of the database on its way to another thread: of an error object, a message has its text only. */
export interface RemoteError {
  message: string
  failure?: DatabaseFailure
  code?: string
  errcode?: number
  /** The code of the driver's error from which a `DatabaseError` was made. */
  causeCode?: string
}

export function toRemoteError(error: unknown): RemoteError {
  const { message, failure, code, errcode, cause } = error as Error & RemoteError
  const { code: causeCode } = (cause ?? {}) as { code?: string }
  return { message, failure, code, errcode, causeCode } as RemoteError
}

export function fromRemoteError({ message, failure, code, errcode, causeCode }: RemoteError): Error {
  if (failure === undefined) return Object.assign(new Error(message), { code, errcode })
  const cause = causeCode === undefined ? undefined : Object.assign(new Error(message), { code: causeCode })
  return new DatabaseError(failure, message, cause)
}
