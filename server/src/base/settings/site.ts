import { accentColor } from './accent-color.ts'
import { text, textList, url } from './parsers.ts'
import { setting } from './setting.ts'

/** How the pages look, and what they say beside the data. */
export const siteSettings = {
  startText: setting(
    'WAYLEAVE_START_TEXT',
    null as string | null,
    text(),
    'What the start page says below the name and the description of the service: plain text; an empty line begins a new paragraph.',
  ),
  featured: setting(
    'WAYLEAVE_FEATURED',
    [] as string[],
    textList(),
    'The tables of the datasets that the start page shows, separated by commas. Without it, those that were updated last.',
  ),
  logo: setting(
    'WAYLEAVE_LOGO',
    null as string | null,
    text(/\.(svg|png|webp)$/i, 'the path of a file that ends with .svg, .png or .webp'),
    'The path of a picture that stands for the service in the header of every page, and as its icon.',
  ),
  accent: setting(
    'WAYLEAVE_ACCENT',
    '#0b6e5b',
    accentColor('light'),
    'The color of links and buttons in the light theme, as #rrggbb: dark enough to read on white.',
  ),
  accentDark: setting(
    'WAYLEAVE_ACCENT_DARK',
    '#5cc8b0',
    accentColor('dark'),
    'The same in the dark theme: light enough to read on black.',
  ),
  privacyUrl: setting(
    'WAYLEAVE_PRIVACY_URL',
    null as string | null,
    url('http:', 'https:'),
    'The address of the privacy notice; linked at the foot of every page.',
  ),
  imprintUrl: setting(
    'WAYLEAVE_IMPRINT_URL',
    null as string | null,
    url('http:', 'https:'),
    'The address of the legal notice that says who runs the service; linked at the foot of every page.',
  ),
} as const
