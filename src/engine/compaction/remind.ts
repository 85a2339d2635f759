import type { TextBlock } from '../../protocol/index.js';
import { toReminder } from '../reminder.js';

export const remind = (text: string): TextBlock => ({ type: 'text', text: toReminder(text) });
