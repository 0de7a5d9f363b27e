import { ADD_ONS, type AddOn } from '@wayleave/contract/add-ons'
import { boolean, choice, emailList, integer, text, textList } from './parsers.ts'
import { setting } from './setting.ts'

/** Who may sign in, what a new organization has, and what keys look like. */
export const accountsSettings = {
  admins: setting(
    'WAYLEAVE_ADMINS',
    [] as string[],
    emailList(),
    'Mail addresses of the platform administrators, separated by commas.',
  ),
  signUp: setting(
    'WAYLEAVE_SIGN_UP',
    'open' as 'open' | 'invite',
    choice('open', 'invite'),
    'Who may sign up: "open" (anyone; an organization of their own is made) or "invite" (only invited addresses).',
  ),
  newOrganizationAddOns: setting(
    'WAYLEAVE_NEW_ORGANIZATION_ADD_ONS',
    [] as AddOn[],
    textList(...ADD_ONS),
    'Add-ons that a new organization begins with, separated by commas.',
  ),
  newOrganizationCredits: setting(
    'WAYLEAVE_NEW_ORGANIZATION_CREDITS',
    0,
    integer(0, 1_000_000_000),
    'Credits that a new organization begins with.',
  ),
  keyLiteral: setting(
    'WAYLEAVE_KEY_LITERAL',
    'svc',
    text(/^[a-z][a-z0-9]{0,9}$/, 'one to ten lower-case letters and digits'),
    'The first part of every key secret.',
  ),
  keyEnv: setting(
    'WAYLEAVE_KEY_ENV',
    'live',
    text(/^[a-z][a-z0-9]{0,15}$/, 'one to sixteen lower-case letters and digits'),
    'The environment label in every key secret.',
  ),
  keyInUrl: setting(
    'WAYLEAVE_KEY_IN_URL',
    false,
    boolean(),
    'Accept any key as the query parameter "api_key", not only keys with allowed origins. Addresses end up in logs and histories: off by default.',
  ),
  keysPerUser: setting(
    'WAYLEAVE_KEYS_PER_USER',
    25,
    integer(1, 100_000),
    'Personal keys a user may hold in one organization.',
  ),
  keysPerOrganization: setting(
    'WAYLEAVE_KEYS_PER_ORGANIZATION',
    100,
    integer(1, 100_000),
    'Keys an organization may hold.',
  ),
} as const
