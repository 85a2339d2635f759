const LISTS = new Map<string, readonly string[]>();

/** The words of a text in one of our tables; cut once. */
export function listed(text: string | undefined): readonly string[] {
  if (text === undefined || text === '') return [];
  let list = LISTS.get(text);
  if (list === undefined) {
    list = text.split(' ');
    LISTS.set(text, list);
  }
  return list;
}
