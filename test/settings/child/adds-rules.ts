/** Adds rules to a settings file, one change each, as fast as it can. `argv`: file, name, count. */
import { applyRuleUpdates } from '../../../src/engine/settings/rule-updates.js';

const [, , file = '', name = '', count = '0'] = process.argv;

for (let at = 0; at < Number(count); at += 1) {
  const rules = [{ toolName: 'Bash', ruleContent: `${name} ${at}` }];
  await applyRuleUpdates(file, [{ type: 'addRules', behavior: 'allow', destination: 'userSettings', rules }]);
}
process.stdout.write('done\n');
