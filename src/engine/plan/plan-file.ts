/** Where the plan of a session is kept: a file that people may read, and the model may write while it plans. */
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { isInside, isProtected } from '../permissions/path.js';
import type { SessionScope, SessionState } from '../scope.js';
import { type Entry, isLifeEntry } from '../sessions/entry.js';
import type { LoadedSettings } from '../settings/load.js';
import { isPlanName, toWords } from './words.js';

/** More is no plan. */
export const MAX_PLAN_BYTES = 256 * 1024;
const MAX_TRIES = 10;

export type PlanState = Pick<SessionState, 'planFile' | 'planSource'>;

/** The plan that the log knows of. That of another session, or of one that is to stay as it is, is only begun from. */
export function restorePlan(
  entries: readonly Entry[],
  options: { configDir: string; settings: LoadedSettings; isKept: boolean },
): PlanState {
  const last = entries.findLast((entry) => isLifeEntry(entry) && entry.kind === 'set' && entry.plan !== undefined);
  if (last === undefined || !('plan' in last) || !isPlanName(last.plan)) return {};
  const path = join(folderOf(options), `${last.plan}.md`);
  return last.forked || !options.isKept ? { planSource: path } : { planFile: path };
}

/** `<config>/plans`, or the folder of the project that settings name. What decides what may run is no place for it. */
function folderOf({ configDir, settings }: { configDir: string; settings: LoadedSettings }): string {
  const { plansDirectory } = settings.value;
  const usual = join(configDir, 'plans');
  if (typeof plansDirectory !== 'string' || plansDirectory === '' || isAbsolute(plansDirectory)) return usual;
  const { projectRoot } = settings.files;
  const wanted = resolve(projectRoot, plansDirectory);
  return isInside(projectRoot, wanted) && !isProtected(wanted) ? wanted : usual;
}

/**
 * The file of the plan, which is that of the main thread; undefined before there was a reason for one. The links of its
 * folder are resolved, but not one in its own place: what that leads to is no plan.
 */
export async function findPlanFile(scope: SessionScope): Promise<string | undefined> {
  const { state, config } = scope.main ?? scope;
  if (state.planFile === undefined) return undefined;
  const path = await toRealFolder(scope, state.planFile);
  const isUsual = dirname(state.planFile) === join(config.configDir, 'plans');
  return isUsual || (await isPlaceForPlans(scope, state.planFile, path)) ? path : undefined;
}

/** A folder of the project is one as long as it leads neither out of it nor to what decides what may run. */
async function isPlaceForPlans({ guard, workspace }: SessionScope, named: string, real: string): Promise<boolean> {
  if (isProtected(real)) return false;
  const { projectRoot } = guard.settings.files;
  return !isInside(projectRoot, named) || isInside(await workspace.realPath(projectRoot), real);
}

const toRealFolder = async ({ workspace }: SessionScope, path: string): Promise<string> =>
  join(await workspace.realPath(dirname(path)), basename(path));

/** The file of the plan; chosen, and known to the log, from the first time on. */
export async function choosePlanFile(scope: SessionScope): Promise<string> {
  const { state, recorder } = scope;
  if (state.planFile === undefined) {
    const { path, name } = await freshFile(scope);
    state.planFile = path;
    void recorder.life({ kind: 'set', plan: name });
    const { planSource } = state;
    const begun = planSource === undefined ? undefined : await readAt(scope, await toRealFolder(scope, planSource));
    if (begun !== undefined) await writePlan(scope, begun);
  }
  return (await findPlanFile(scope)) ?? state.planFile;
}

async function freshFile({ config, guard, workspace, clock, recorder, kept, ledger }: SessionScope) {
  const folder = folderOf({ configDir: config.configDir, settings: guard.settings });
  for (let tries = 0; ; tries += 1) {
    const uuid = clock.uuid();
    const name = tries < MAX_TRIES ? toWords(uuid) : `${toWords(uuid)}-${uuid.toLowerCase().slice(-12)}`;
    const path = join(folder, `${name}.md`);
    if (tries < MAX_TRIES && (await workspace.stat(path).catch(() => undefined)) !== undefined) continue;
    if (recorder.log.isKept) return { path, name };
    // Of a session that leaves nothing, the plan goes with it.
    const own = await kept.keep(`${name}.md`, '');
    ledger.note(own, new Uint8Array());
    return { path: own, name };
  }
}

/** The plan as it is kept; undefined when there is none yet. */
export async function readPlan(scope: SessionScope): Promise<string | undefined> {
  const path = await findPlanFile(scope);
  return path === undefined ? undefined : readAt(scope, path);
}

async function readAt({ workspace }: SessionScope, path: string): Promise<string | undefined> {
  try {
    const text = new TextDecoder().decode(await workspace.readFile(path, { maxBytes: MAX_PLAN_BYTES, exact: true }));
    return text.trim() === '' ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Keeps the plan, which the model knows. Gives its place, or undefined when that failed: a plan works without a file. */
export async function writePlan(scope: SessionScope, plan: string): Promise<string | undefined> {
  try {
    await choosePlanFile(scope);
    const path = await findPlanFile(scope);
    if (path === undefined) throw new Error('its folder leads out of the project, or where files decide what may run');
    const data = new TextEncoder().encode(plan);
    if (plan !== (await readAt(scope, path))) await scope.workspace.writeFile(path, data, { exact: true });
    scope.ledger.note(path, data);
    return path;
  } catch (thrown) {
    scope.logger('warn', `The plan could not be kept as a file: ${String(thrown)}`);
    return undefined;
  }
}
