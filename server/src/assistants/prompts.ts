import type { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { onceConverted } from './once-converted.ts'

const dataset = z.string().max(63).describe('The table name of the dataset.')
const exploreInput = onceConverted(z.object({ table: dataset }))
const answerInput = onceConverted(z.object({ question: z.string().max(2000).describe('The question.') }))
const compareInput = onceConverted(
  z.object({ table: dataset, by: z.string().max(200).describe('The column to compare by.') }),
)

/** Starting points that a person chooses in their client. */
export function addPrompts(server: McpServer): void {
  const ask = (text: string) => ({
    messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
  })
  server.registerPrompt(
    'explore',
    {
      title: 'Explore a dataset',
      description: 'What a dataset holds, what stands out, and what it could answer.',
      argsSchema: exploreInput,
    },
    ({ table }) =>
      ask(
        `Describe the dataset ${table} with describe_dataset. Then use aggregate to find three facts about it that are worth knowing, each with its numbers, and suggest three questions that it could answer. Name its license and source.`,
      ),
  )
  server.registerPrompt(
    'answer',
    {
      title: 'Answer a question from the data',
      description: 'Finds the dataset for a question, and answers with numbers from it.',
      argsSchema: answerInput,
    },
    ({ question }) =>
      ask(
        `Answer this question from the datasets of this service: ${question}\nFind the dataset with search_datasets, read its columns with describe_dataset, and compute the answer with aggregate or query_features. Say which dataset, version and filter the numbers come from. If the data cannot answer it, say so.`,
      ),
  )
  server.registerPrompt(
    'compare',
    {
      title: 'Compare groups',
      description: 'A measure of a dataset by one of its columns, with what stands out.',
      argsSchema: compareInput,
    },
    ({ table, by }) =>
      ask(
        `Compare the groups of the column ${by} in the dataset ${table}: use describe_dataset for its columns, then aggregate by ${by} with count and the measures that matter. Show a table, the largest first, and say what stands out.`,
      ),
  )
}
