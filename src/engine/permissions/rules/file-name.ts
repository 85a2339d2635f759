/** Endings that files have and folders do not. */
const FILE_ENDING = new RegExp(
  `\\.(?:${[
    'env pem key pub crt cer der p12 pfx jks keystore asc gpg pgp kdbx',
    'json json5 jsonc jsonl yaml yml toml ini cfg conf properties xml plist csv tsv txt md mdx rst log lock sql db sqlite',
    'sqlite3 ts tsx mts cts js jsx mjs cjs vue svelte py pyi ipynb rb go rs java kt swift c h cc cpp hpp cs php lua sh bash',
    'zsh fish ps1 bat html htm css scss less svg png jpg jpeg gif webp ico pdf zip gz tgz tar bz2 xz map tmpl bak orig patch',
    'diff snap proto graphql tf tfvars tfstate',
  ]
    .join(' ')
    .split(' ')
    .join('|')})$`,
  'i',
);

/** Hidden names that are files: `.npmrc`, `.env.local`. */
const HIDDEN_FILE =
  /^\.(?:env(?:\..+)?|[a-z_-]*rc|[a-z]+_history|netrc|pgpass|htpasswd|htaccess|git-credentials|git(?:config|ignore|attributes|modules)|dockercfg|dockerignore|profile|bash_(?:profile|aliases|login|logout))$/i;

/** A name that says of itself that it is a file's. What may be a folder holds files of any name. */
export const looksLikeFile = (name: string): boolean => HIDDEN_FILE.test(name) || FILE_ENDING.test(name.slice(1));
