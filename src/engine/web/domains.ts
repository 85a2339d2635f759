/** Which hosts the results of a search may come from. Pure. */

export interface Domains {
  /** Empty: all. */
  allowed: readonly string[];
  blocked: readonly string[];
}

/** `https://Docs.Example.org/x` and `*.example.org` mean their host. What names none is an error. */
export function parseDomain(entry: string): string {
  const host = entry
    .trim()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/^\*\./, '')
    .replace(/[/?#].*$/, '');
  if (host === '' || /[\s@*]/.test(host) || !URL.canParse(`http://${host}`)) {
    throw new Error(`\`${entry}\` is not a domain. Give a host such as example.org.`);
  }
  return new URL(`http://${host}`).hostname.replace(/\.$/, '');
}

/** Whether a result may be shown. A domain stands for its subdomains too. */
export function isWanted(address: string, { allowed, blocked }: Domains): boolean {
  if (!/^https?:/i.test(address) || !URL.canParse(address)) return false;
  const host = new URL(address).hostname.replace(/\.$/, '');
  const isOf = (domain: string): boolean => host === domain || host.endsWith(`.${domain}`);
  return (allowed.length === 0 || allowed.some(isOf)) && !blocked.some(isOf);
}

/** The query with the operators that search engines understand; the results are judged all the same. */
export function addSites(query: string, { allowed, blocked }: Domains): string {
  const only = allowed.map((domain) => `site:${domain}`).join(' OR ');
  const not = blocked.map((domain) => `-site:${domain}`);
  return [query, ...(only === '' ? [] : [allowed.length === 1 ? only : `(${only})`]), ...not].join(' ');
}
