import type { Theme } from '../../theme.ts'

export interface Palette {
  sea: string
  land: string
  coast: string
  border: string
  label: string
  halo: string
  data: string
  outline: string
  /** From few features to many. */
  cluster: [string, string, string]
  onCluster: string
  pointed: string
  selected: string
  none: string
}

export const PALETTES: Record<Theme, Palette> = {
  light: {
    sea: '#dde9f0',
    land: '#f8f8f4',
    coast: '#b4c6cc',
    border: '#cdd5d2',
    label: '#5c6b68',
    halo: '#f8f8f4',
    data: '#0b7a66',
    outline: '#ffffff',
    cluster: ['#5fb8a2', '#1f8f79', '#0a5548'],
    onCluster: '#ffffff',
    pointed: '#e8830c',
    selected: '#d4380b',
    none: '#a3adaa',
  },
  dark: {
    sea: '#0c1316',
    land: '#1c2523',
    coast: '#3c4c49',
    border: '#33403d',
    label: '#aebbb7',
    halo: '#141b19',
    data: '#4fc9ae',
    outline: '#0c1316',
    cluster: ['#2a6d60', '#3fa893', '#9cf0dc'],
    onCluster: '#06110f',
    pointed: '#ffc46b',
    selected: '#ff9a57',
    none: '#66736f',
  },
}

/** How much of its color the inside of a ring has. */
export const RING_OPACITY = 0.12

/** Colors of ordered classes, from low to high: readable by people who cannot tell red from green. */
export const SEQUENCE: Record<Theme, string[]> = {
  light: ['#fcce25', '#f2844b', '#cc4778', '#7e03a8', '#2a0593'],
  dark: ['#5c2a9d', '#a83a9c', '#e0617a', '#fa9f5a', '#f7e04b'],
}

/** Colors of categories. */
export const CATEGORIES: Record<Theme, string[]> = {
  light: ['#1f77b4', '#d95f02', '#2a9d4a', '#c51b7d', '#7b5fc9', '#a6761d', '#0f9aa8', '#b8322a'],
  dark: ['#6db3e8', '#ff9d4d', '#6fd08c', '#f283bd', '#b3a1f0', '#d9b064', '#5cd6e2', '#f0837b'],
}
