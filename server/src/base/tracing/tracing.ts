import type { IncomingMessage } from 'node:http'

export type SpanAttributes = Record<string, string | number | boolean>

export interface RequestOutcome {
  id: string
  /** The pattern of the route, such as `/v1/dataset/:table`. */
  route: string
  status: number
  keyId: string | undefined
}

/** The trace of one request. */
export interface RequestTrace {
  /** Runs work whose spans belong to this request. */
  run<T>(work: () => T): T
  /** The response is ready and is sent from now on. */
  sending(): void
  end(outcome: RequestOutcome): void
}

/** Records what the service does. The implementation is in open-telemetry.ts, which is loaded only if traces are on. */
export interface Tracing {
  /** Runs work as a span, which ends when the work returns or its promise settles. */
  span<T>(name: string, attributes: SpanAttributes, work: () => T): T
  /** `parent` is a `traceparent` header (W3C Trace Context) that may be trusted. */
  request(request: IncomingMessage, parent: string | undefined): RequestTrace
}

/**
 * One for the process, as in OpenTelemetry's own interface: spans begin deep inside code that would otherwise pass a
 * tracer on from call to call. Null while traces are off, so that the fastest requests pay one comparison.
 */
let tracing: Tracing | null = null
const traces = new WeakMap<IncomingMessage, RequestTrace>()

/** Turns traces on, or off with null. */
export function useTracing(use: Tracing | null): void {
  tracing = use
}

export function isTracing(): boolean {
  return tracing !== null
}

/** Runs work, as a span if traces are on. */
export function traced<T>(name: string, work: () => T, attributes: SpanAttributes = {}): T {
  return tracing === null ? work() : tracing.span(name, attributes, work)
}

/** The trace of a request, begun at the first call; null if traces are off. */
export function traceRequest(request: IncomingMessage, parent?: string): RequestTrace | null {
  if (tracing === null) return null
  let trace = traces.get(request)
  if (trace === undefined) {
    trace = tracing.request(request, parent)
    traces.set(request, trace)
  }
  return trace
}
