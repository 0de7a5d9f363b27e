import {
  START_SECTIONS,
  type StartSection,
  TITLED_SECTIONS,
  type TitledSection,
} from '@wayleave/contract/start-sections'
import { accentColor } from './accent-color.ts'
import { namedTexts, text, textList, url } from './parsers.ts'
import { setting } from './setting.ts'

/** How the pages look, and what they say beside the data. */
export const siteSettings = {
  headline: setting(
    'WAYLEAVE_HEADLINE',
    'Data you can see, query and build on',
    text(),
    'The large line on the start page: what visitors can do here, in a few words.',
  ),
  audience: setting(
    'WAYLEAVE_AUDIENCE',
    null as string | null,
    text(),
    'The small line above it: for whom the service is. Without it, the name of the contact.',
  ),
  startMap: setting(
    'WAYLEAVE_START_MAP',
    null as string | null,
    text(/^[a-z][a-z0-9_]{0,62}$/, 'the table of a dataset, or none'),
    'The table of the dataset that the start page shows as a map, or `none` for no map. Without it, the first featured dataset that has a map, or the largest one.',
  ),
  startSections: setting(
    'WAYLEAVE_START_SECTIONS',
    [...START_SECTIONS] as StartSection[],
    textList(...START_SECTIONS),
    'The sections of the start page in their order, separated by commas: `counts`, `featured`, `topics`, `recent`, `key` (how to get a key) and `developers`.',
  ),
  startText: setting(
    'WAYLEAVE_START_TEXT',
    null as string | null,
    text(),
    'What the start page says below the name and the description of the service: plain text; an empty line begins a new paragraph.',
  ),
  startTitles: setting(
    'WAYLEAVE_START_TITLES',
    null as Partial<Record<TitledSection, string>> | null,
    namedTexts<Partial<Record<TitledSection, string>>>(
      (name) => (TITLED_SECTIONS as readonly string[]).includes(name),
      `a list such as "featured=Our maps; key=Begin here", with names among ${TITLED_SECTIONS.join(', ')}`,
    ),
    'Titles of sections of the start page in the place of the usual ones, separated by semicolons: `featured=Our maps; key=Begin here`. In the settings file, an object.',
  ),
  startLinks: setting(
    'WAYLEAVE_START_LINKS',
    null as Record<string, string> | null,
    namedTexts(
      (_, address) => /^(https?:\/\/|mailto:|\/(?![/\\]))/.test(address),
      'a list such as "All datasets=/datasets; Our blog=https://example.org"',
    ),
    'The links below the search of the start page, separated by semicolons: `All datasets=/datasets; Our blog=https://example.org`. In the settings file, an object. Without it, the catalog and the gallery.',
  ),
  startKey: setting(
    'WAYLEAVE_START_KEY',
    null as string | null,
    text(),
    'What the section `key` of the start page says beside its button and its code, in Markdown. A numbered list is shown as steps.',
  ),
  startDevelopers: setting(
    'WAYLEAVE_START_DEVELOPERS',
    null as string | null,
    text(),
    'What the section `developers` says, in Markdown. A list is shown as cards: `- [Tiles](/docs/tiles) for your own maps`.',
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
