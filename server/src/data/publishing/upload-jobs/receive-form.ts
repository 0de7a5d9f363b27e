import { basename } from 'node:path'
import type { MultipartFile } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { invalidInput, Problem } from '../../../base/problem.ts'
import { checkOptions, MAX_FORM_PARTS, type OptionSchema, type UploadOptions } from '../upload-options.ts'
import { boundForm } from './bound-form.ts'
import { receiveUpload, type UploadLimits } from './receive-upload.ts'

/** What an upload consists of. `uploadBytes` is 0 if it has no file, but names an inspection that has one. */
export interface ReceivedUpload {
  options: UploadOptions
  filename: string | undefined
  uploadBytes: number
}

/** Receives the file, as the body or as a part of a form, and its options. */
export async function receive(
  request: FastifyRequest,
  path: string,
  limits: UploadLimits,
  schema: OptionSchema,
): Promise<ReceivedUpload> {
  const query = request.query as UploadOptions
  if (request.isMultipart()) return receiveForm(request, path, limits, schema)
  const { filename, inspection } = query
  if (inspection !== undefined && !request.body) return { options: query, filename, uploadBytes: 0 }
  if (!request.body) throw new Problem('invalid-input', 'There is no body: send the file as the body.')
  requireNoInspection(query)
  const uploadBytes = await receiveUpload(request.body as NodeJS.ReadableStream, path, limits)
  return { options: query, filename, uploadBytes }
}

/** A schema has up to 250,000 characters, each of up to four bytes. */
export const FORM_FIELD_BYTES = 1_000_001

/**
 * What the parser of forms hands over as a stream: files, and fields that say they are JSON, which it would parse
 * before anything bounds them. A megabyte of brackets stopped all requests for 40 ms.
 */
export function isPartAFile(_field?: string, type?: string, filename?: string): boolean {
  return filename !== undefined || type === 'application/octet-stream' || isJson(type)
}

function isJson(type: string | undefined): boolean {
  return type?.startsWith('application/json') === true
}

/** The text of a field that says it is JSON, such as a schema; of a text in JSON, the text that it stands for. */
async function textOf({ fieldname, file }: MultipartFile): Promise<string> {
  const name = fieldname.slice(0, 80)
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of file as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes >= FORM_FIELD_BYTES) throw invalidInput(name, 'is too long')
    chunks.push(chunk)
  }
  const json = Buffer.concat(chunks).toString()
  if (!json.trimStart().startsWith('"')) return json
  try {
    return JSON.parse(json) as string
  } catch {
    throw invalidInput(name, 'is not JSON')
  }
}

async function receiveForm(
  request: FastifyRequest,
  path: string,
  limits: UploadLimits,
  schema: OptionSchema,
): Promise<ReceivedUpload> {
  const query = request.query as UploadOptions
  const fields: Record<string, string> = {}
  let file: { name: string; uploadBytes: number } | null = null
  const raw = boundForm(request.raw, MAX_FORM_PARTS)
  // The parser reads `raw` of the request that it is called on.
  const bounded = Object.create(request, { raw: { value: raw } }) as FastifyRequest
  for await (const part of bounded.parts()) {
    if (part.type === 'file' && part.filename === undefined && isJson(part.mimetype))
      fields[part.fieldname] = await textOf(part)
    else if (part.type === 'file') {
      if (file) throw new Problem('body-too-large', 'A form may have one file.')
      // Options before the file are checked before it is received.
      requireNoInspection(checkOptions({ ...query, ...fields }, schema))
      const uploadBytes = await receiveUpload(part.file, path, limits)
      if (part.file.truncated) throw new Problem('body-too-large')
      file = { name: basename(part.filename || ''), uploadBytes }
    } else {
      // The parser cuts off the value, which would then be another one.
      if (part.valueTruncated) throw invalidInput(part.fieldname.slice(0, 80), 'is too long')
      fields[part.fieldname] = part.value as string
    }
  }
  const options = checkOptions({ ...query, ...fields }, schema)
  if (file) requireNoInspection(options)
  else if (options.inspection === undefined) throw invalidInput('file', 'the form has no part "file"')
  return { options, filename: options.filename ?? file?.name, uploadBytes: file?.uploadBytes ?? 0 }
}

/** Either a file is sent, or that of an inspection is taken. */
function requireNoInspection({ inspection }: UploadOptions): void {
  if (inspection !== undefined) throw invalidInput('inspection', 'is given without a file')
}

/** The multipart parser reports a malformed form with a message only; all other errors have a code. */
export function asFormProblem(error: unknown): unknown {
  if (error instanceof Problem || (error as { code?: string }).code !== undefined) return error
  return new Problem('invalid-input', `The form cannot be read: ${(error as Error).message}.`, {
    cause: error,
  })
}
