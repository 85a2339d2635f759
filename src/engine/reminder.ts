/** What the engine says in a message of the user. Texts of others in it cannot end it and speak as the user. */
export const toReminder = (text: string): string =>
  `<system-reminder>\n${text.replace(TAG, '&lt;')}\n</system-reminder>`;

const TAG = /<(?=[\s/]*system-reminder)/gi;
