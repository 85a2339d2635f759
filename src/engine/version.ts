/** Kept equal to package.json by a test. */
export const HEDDLE_VERSION = '0.1.0';

/** The CLI version whose manners we follow, as `claude_code_version` reports it. */
export const FOLLOWED_VERSION = '2.1.50';
