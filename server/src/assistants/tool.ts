import type { z } from 'zod'
import type { OwnApi } from './own-api.ts'
import type { UsageOfCaller } from './usage-of-caller.ts'

/** What a tool works with. */
export interface ToolContext {
  api: OwnApi
  /** The address of the service, without a slash at its end. */
  base: string
  usage: UsageOfCaller
}

/** One tool of the Model Context Protocol: what it is for, what it takes, and the text that it returns. */
export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  name: string
  title: string
  /** For an assistant, which knows nothing else about the tool. */
  description: string
  input: Input
  /** Whether calling it can cost credits. */
  spends?: boolean
  run(context: ToolContext, input: z.infer<Input>): Promise<string>
}

/** Gives the types of a tool's input to its `run`. */
export function defineTool<Input extends z.ZodObject>(tool: Tool<Input>): Tool {
  return tool as unknown as Tool
}

/** Characters of one result: some thousand words, which an assistant reads at once. */
export const MAX_RESULT = 24_000
