import { Receipt, type ResponseInfo } from './response-info.ts'

export interface WithResponse<T> {
  data: T
  response: ResponseInfo
}

/** The promise of a result, which can also tell what the response's headers say. */
export interface Call<T> extends Promise<T> {
  /** The same request's result together with credits, rate limits, request id and headers. */
  withResponse(): Promise<WithResponse<T>>
}

export function startCall<T>(run: (receipt: Receipt) => Promise<T>): Call<T> {
  const receipt = new Receipt()
  const result = run(receipt)
  const withResponse = async () => ({ data: await result, response: receipt.info() })
  return Object.assign(result, { withResponse })
}
