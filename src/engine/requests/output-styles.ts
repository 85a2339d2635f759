/** Output styles, read again. The one in use stays as it was: another text would throw the prompt cache away. */
import type { ResultOf } from '../../protocol/index.js';
import { DEFAULT_STYLE, stylesOf } from '../output-style.js';
import type { Session } from '../session.js';

export async function reloadStyles({ scope }: Session): Promise<ResultOf<'reload_output_styles'>> {
  await scope.commands.reload();
  return {
    output_style: scope.style?.name ?? DEFAULT_STYLE,
    available_output_styles: [DEFAULT_STYLE, ...stylesOf(scope.definitions.styles).keys()],
  };
}
