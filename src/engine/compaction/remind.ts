import type { TextBlock } from '../../protocol/index.js';

/** What the engine says in a message of the user. Texts of others in it cannot end it and speak as the user. */
export const remind = (text: string): TextBlock => ({
  type: 'text',
  text: `<system-reminder>\n${text.replace(TAG, '&lt;')}\n</system-reminder>`,
});

const TAG = /<(?=[\s/]*system-reminder)/gi;
