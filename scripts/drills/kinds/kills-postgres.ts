import { killDrill } from './kills.ts'

export const drill = killDrill('postgres', { long: 200, short: 2 }, 2)
