import type { DatasetDetails } from '@wayleave/contract/records'
import type { Column } from '../filter/facet.ts'
import { FEW_VALUES, tellingColumns } from '../worth.ts'
import { type Chart, isNumeric, plainChart } from './chart.ts'

/** The charts that a reader sees first: by what the statistics say, and not by the order of the columns. */
export function chartsWorthSeeing(dataset: DatasetDetails): Chart[] {
  return tellingColumns(dataset).map((column) => usualChart(column, dataset))
}

/** The chart of a column that most readers would draw. */
export function usualChart({ name, type }: Column, dataset: DatasetDetails): Chart {
  const distinct = dataset.statistics?.[name]?.distinct ?? Number.POSITIVE_INFINITY
  const isFew = isNumeric(type) && distinct <= FEW_VALUES
  return { ...plainChart(name), ...(isFew ? { step: 'values', order: 'value' as const } : {}) }
}
