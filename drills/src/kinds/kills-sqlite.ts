import { killDrill } from './kills.ts'

export const drill = killDrill('sqlite', { long: 1000, short: 2 }, 1)
