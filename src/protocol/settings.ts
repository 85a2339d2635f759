/** A settings file: what we know of it. Keys of others survive; whoever loads the file decides what to say about them. */
import { z } from 'zod';
import { type Infer, lazy } from './lazy.js';
import { McpServerConfig } from './mcp.js';
import { EFFORT_LEVELS, HOOK_EVENTS } from './names.js';
import { jsonObject, openName } from './open-union.js';
import { PermissionBehavior, PermissionMode } from './permission.js';

const strings = () => z.array(z.string()).optional();
const port = () => z.number().int().min(1).max(65_535).optional();

// What stands in `meta` here is said in `schema/settings.json` alone, for editors: whoever loads a file finds the same
// faults in words of its own, with their lines.

/** The object form of a rule, beside `Tool(specifier)`. */
export const PermissionRuleObject = lazy(() =>
  z
    .object({
      tool: z.string().optional().describe('A name, or `*` for any.'),
      path: z.string().optional(),
      command: z.string().optional(),
      behavior: PermissionBehavior().optional(),
      reason: z.string().optional(),
    })
    .meta({ required: ['tool'], additionalProperties: false, not: { required: ['path', 'command'] } }),
);
export type PermissionRuleObject = Infer<typeof PermissionRuleObject>;

/** `Tool` or `Tool(specifier)`. */
const RULE = String.raw`^\s*[^()\s]+\s*(\([\s\S]*\))?\s*$`;

const ruleList = () => z.array(z.union([z.string().meta({ pattern: RULE }), PermissionRuleObject()])).optional();

export const PermissionSettings = lazy(() =>
  z.object({
    allow: ruleList().describe('Calls that run unasked.'),
    ask: ruleList().describe('Calls that are always asked about.'),
    deny: ruleList().describe('Calls that never run.'),
    defaultMode: PermissionMode().optional(),
    additionalDirectories: strings(),
    disableBypassPermissionsMode: z.literal('disable').optional(),
  }),
);
export type PermissionSettings = Infer<typeof PermissionSettings>;

export const SandboxSettings = lazy(() =>
  z.object({
    enabled: z.boolean().optional(),
    failIfUnavailable: z.boolean().optional().describe('A sandbox that cannot start is an error.'),
    autoAllowBashIfSandboxed: z.boolean().optional(),
    allowUnsandboxedCommands: z.boolean().optional(),
    excludedCommands: strings(),
    enableWeakerNestedSandbox: z.boolean().optional(),
    ignoreViolations: z.record(z.string(), z.array(z.string())).optional(),
    network: z
      .object({
        allowedDomains: strings(),
        deniedDomains: strings(),
        allowManagedDomainsOnly: z.boolean().optional(),
        allowUnixSockets: strings(),
        allowAllUnixSockets: z.boolean().optional(),
        allowLocalBinding: z.boolean().optional(),
        httpProxyPort: port(),
        socksProxyPort: port(),
      })
      .optional(),
    filesystem: z
      .object({ allowWrite: strings(), denyWrite: strings(), denyRead: strings(), allowRead: strings() })
      .optional(),
    ripgrep: z.object({ command: z.string(), args: strings() }).optional(),
  }),
);
export type SandboxSettings = Infer<typeof SandboxSettings>;

/** Events of other programs: hooks on them are well-formed, and never run here. */
export const HOOK_EVENTS_OF_OTHERS: readonly string[] = [
  'DirectoryAdded',
  'Elicitation',
  'ElicitationResult',
  'FileChanged',
  'MessageDisplay',
  'PostModelSwitch',
  'PreModelSwitch',
];

/** What each kind of hook cannot do without. */
export const HOOK_NEEDS: Readonly<Record<string, string>> = {
  command: 'command',
  prompt: 'prompt',
  agent: 'prompt',
  http: 'url',
  mcp_tool: 'tool',
};

const hookKinds = () =>
  Object.entries(HOOK_NEEDS).map(([type, need]) => ({
    properties: {
      type: { const: type },
      [need]: { type: 'string', pattern: need === 'url' ? '^https?://' : '\\S' },
    },
    required: ['type', need],
  }));

/** One hook of a settings file. */
export const HookCommand = lazy(() =>
  z
    .object({
      type: openName('command', 'prompt', 'agent', 'http', 'mcp_tool').meta({ enum: Object.keys(HOOK_NEEDS) }),
      command: z.string().optional(),
      prompt: z.string().optional(),
      url: z.string().optional(),
      server: z.string().optional().describe('The MCP server of the tool.'),
      tool: z
        .string()
        .optional()
        .describe('A tool of that server; what it answers is read like the output of a command.'),
      input: jsonObject()
        .optional()
        .describe(
          'What the tool is called with; `${tool_input.path}` stands for fields of the event. Absent: the event.',
        ),
      headers: z.record(z.string(), z.string()).optional().describe('Sent to the url.'),
      allowedEnvVars: strings().describe('Variables that `$NAME` in headers may stand for.'),
      model: z.string().optional().describe('Answers the prompt.'),
      timeout: z.number().meta({ exclusiveMinimum: 0 }).optional().describe('Seconds.'),
      if: z.string().optional().describe('A permission rule; the hook runs only for calls that match.'),
      async: z.boolean().optional(),
      asyncRewake: z.boolean().optional().describe('As async; exit code 2 brings its reason to the model at once.'),
      rewakeMessage: z.string().optional().describe('For the model, before that reason.'),
      rewakeSummary: z.string().optional().describe('For the person, in the place of that reason.'),
      statusMessage: z.string().optional(),
      onFailure: openName('allow', 'deny', 'ask')
        .meta({ enum: ['allow', 'deny', 'ask'] })
        .optional(),
    })
    .meta({ anyOf: hookKinds() }),
);
export type HookCommand = Infer<typeof HookCommand>;

export const HookMatcherSettings = lazy(() =>
  z.object({ matcher: z.string().optional(), hooks: z.array(HookCommand()) }),
);
export type HookMatcherSettings = Infer<typeof HookMatcherSettings>;

export const Settings = lazy(() =>
  z.object({
    $schema: z.string().optional(),
    permissions: PermissionSettings().optional(),
    hooks: z
      .record(z.string(), z.array(HookMatcherSettings()))
      .meta({ propertyNames: { enum: [...HOOK_EVENTS, ...HOOK_EVENTS_OF_OTHERS] } })
      .optional()
      .describe('Event to matchers.'),
    disableAllHooks: z.boolean().optional(),
    env: z.record(z.string(), z.string()).optional().describe('Added to the environment of the session.'),
    apiKeyHelper: z.string().optional().describe('A command that prints the API key.'),
    model: z.string().optional(),
    availableModels: strings(),
    effortLevel: z.enum(EFFORT_LEVELS).optional(),
    alwaysThinkingEnabled: z.boolean().optional(),
    outputStyle: z.string().optional(),
    language: z.string().optional(),
    agent: z.string().optional(),
    sandbox: SandboxSettings().optional(),
    mcpServers: z.record(z.string(), McpServerConfig()).optional(),
    enableAllProjectMcpServers: z.boolean().optional(),
    enabledMcpjsonServers: strings(),
    disabledMcpjsonServers: strings(),
    allowedMcpServers: z.array(z.unknown()).optional(),
    deniedMcpServers: z.array(z.unknown()).optional(),
    enabledPlugins: z.record(z.string(), z.unknown()).optional(),
    extraKnownMarketplaces: z.record(z.string(), z.unknown()).optional(),
    strictKnownMarketplaces: z.array(z.unknown()).optional(),
    allowManagedHooksOnly: z.boolean().optional(),
    allowManagedPermissionRulesOnly: z.boolean().optional(),
    allowManagedMcpServersOnly: z.boolean().optional(),
    autoCompactEnabled: z.boolean().optional(),
    fileCheckpointingEnabled: z.boolean().optional(),
    cleanupPeriodDays: z.number().optional().describe('Sessions older than this are removed.'),
    plansDirectory: z.string().optional(),
    respectGitignore: z.boolean().optional(),
    includeCoAuthoredBy: z.boolean().optional(),
    attribution: z.object({ commit: z.string().optional(), pr: z.string().optional() }).optional(),
    statusLine: z.unknown().optional(),
    companyAnnouncements: strings(),
    skipWebFetchPreflight: z.boolean().optional(),
    claudeMdExcludes: strings(),
    includeGitInstructions: z.boolean().optional().describe('False: of git only the branch is named.'),
  }),
);
export type Settings = Infer<typeof Settings>;
