/** A request with a key, as the transports report it. */
export interface KeyRequest {
  keyId: string
  method: string
  /** The pattern of the route. */
  route: string
  /** The raw path and query. */
  url: string
  status: number
  milliseconds: number
  bytes: number | null
  credits: number
  weight: number
}

/** Where requests are recorded for the owner of their key. */
export interface KeyRequestLog {
  /** How many requests the next one of the key stands for; 0 if it is not recorded. Called for every request. */
  weightOf(keyId: string): number
  add(request: KeyRequest): void
}
