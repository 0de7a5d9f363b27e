import { killDrill } from './kills.ts'

export const drill = killDrill('postgres', { long: 200, short: 1 }, 2)
