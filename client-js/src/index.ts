export type { Archive, Column, Dataset, Format, Row } from './dataset.ts'
export type { DeliveryOptions, Progress } from './deliver.ts'
export {
  APIStatusError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  PaymentRequiredError,
  PermissionDeniedError,
  type Problem,
  RateLimitError,
  ServerError,
  TimeoutError,
  WayleaveError,
} from './errors.ts'
export type { Feature, Geometry, Position } from './feature.ts'
export type { Items, ItemsOptions, ItemsPage } from './items.ts'
export type { NodeWritable } from './stream-sink.ts'
export type { ApiKey, CallOptions } from './transport.ts'
export { type DownloadResult, Wayleave, type WayleaveOptions } from './wayleave.ts'
