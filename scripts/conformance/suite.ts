import { get } from 'node:http'

/** The result of one abstract test of one resource. */
export interface Outcome {
  /** The name that the standard gives the test. */
  test: string
  subject: string
  result: 'passed' | 'failed' | 'skipped'
  reason: string
}

export class Skipped extends Error {}

/** Runs abstract tests one after the other, and records their results. */
export class Suite {
  readonly outcomes: Outcome[] = []
  readonly #tell: (outcome: Outcome) => void

  constructor(tell: (outcome: Outcome) => void = () => {}) {
    this.#tell = tell
  }

  async test(test: string, subject: string, run: () => Promise<void>): Promise<void> {
    let result: Outcome['result'] = 'passed'
    let reason = ''
    try {
      await run()
    } catch (error) {
      result = error instanceof Skipped ? 'skipped' : 'failed'
      reason = error instanceof Error ? error.message : String(error)
    }
    const outcome: Outcome = { test, subject, result, reason }
    this.outcomes.push(outcome)
    this.#tell(outcome)
  }
}

export interface Answer {
  url: string
  status: number
  headers: Headers
  /** The body parsed as JSON, or the text if it is not JSON. */
  body: unknown
}

/** The service under test, as a client with a key sees it. */
export class Api {
  readonly root: string
  readonly #key: string | null

  constructor(root: string, key: string | null) {
    this.root = root.replace(/\/$/, '')
    this.#key = key
  }

  /** Sends a request to a path below the root, or to the URL of a link. */
  async get(path: string, accept = 'application/json'): Promise<Answer> {
    const url = /^https?:/.test(path) ? path : this.root + path
    const response = await fetch(url, { headers: { accept, ...this.#headers() } })
    const text = await response.text()
    const isJson = /[/+]json(;|$)/.test(response.headers.get('content-type') ?? '')
    const { status, headers } = response
    return { url, status, headers, body: isJson ? JSON.parse(text) : text }
  }

  httpVersion(): Promise<string> {
    return new Promise((resolve, reject) => {
      get(`${this.root}/`, { headers: this.#headers() }, (response) => {
        response.resume()
        resolve(response.httpVersion)
      }).on('error', reject)
    })
  }

  #headers(): Record<string, string> {
    return this.#key === null ? {} : { 'x-api-key': this.#key }
  }
}
