import type { DatasetDetails } from '@wayleave/contract/records'
import { z } from 'zod'
import { defineTool } from '../tool.ts'
import { tableInput } from './inputs.ts'

export const prepareDownload = defineTool({
  name: 'prepare_download',
  title: 'Prepare a download',
  description:
    'The price of a whole dataset as a file, its size and its address. It spends credits only with confirm: true and max_credits, the price that the person has agreed to; ask before you set them. Without them, nothing is spent.',
  spends: true,
  input: z.object({
    table: tableInput,
    format: z
      .string()
      .max(40)
      .default('csv')
      .describe('csv, geojson, geoparquet, gpkg, or another one that it names.'),
    confirm: z
      .boolean()
      .default(false)
      .describe('Pay for the file, after the person has agreed to the price.'),
    max_credits: z
      .number()
      .int()
      .min(0)
      .optional()
      .describe(
        'The price that the person has agreed to, needed with confirm. If it is higher now, nothing is spent.',
      ),
  }),
  run: async ({ api, base, usage }, { table, format, confirm, max_credits: agreed }) => {
    const dataset = await api.get<DatasetDetails>(`/v1/dataset/${encodeURIComponent(table)}`)
    const offered = dataset.formats.find((each) => each.format === format)
    const formats = dataset.formats.map((each) => each.format).join(', ')
    if (!offered) return `There is no format "${format}". There are: ${formats}.`
    const path = `/v1/dataset/${encodeURIComponent(table)}/files/${format}`
    const size = offered.bytes === null ? 'a size that is known once it is built' : `${offered.bytes} bytes`
    const price = dataset.visibility === 'open' ? 0 : dataset.credits
    if (!confirm) {
      const balance = await usage.balance()
      return [
        `${table} as ${format} (${size}) costs ${price} credits; a file that was paid in the last 24 hours costs nothing again.`,
        balance === null ? '' : `The balance is ${balance} credits.`,
        `Nothing was spent. Ask the person, then call prepare_download with confirm: true and max_credits: ${price}.`,
        `Other formats: ${formats}.`,
      ]
        .filter((line) => line !== '')
        .join('\n')
    }
    // A price that nobody named is not one that the person has agreed to.
    if (agreed === undefined)
      return `Nothing was spent: confirm: true needs max_credits, the price that the person has agreed to. It is ${price} credits now.`
    const headers = await api.firstByte(path, agreed)
    const charged = headers['credits-charged']
    const remaining = headers['credits-remaining']
    return [
      `Ready: ${base}${path}`,
      charged === undefined
        ? ''
        : `${charged} credits were charged${remaining === undefined ? '' : `, ${remaining} remain`}.`,
      dataset.visibility === 'open'
        ? 'It needs no key.'
        : 'Fetch it with the header X-API-Key and the same key within 24 hours; that costs nothing more.',
    ]
      .filter((line) => line !== '')
      .join('\n')
  },
})
