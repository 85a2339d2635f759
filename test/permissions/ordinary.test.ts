/** Ordinary work under ordinary rules must not be a series of questions. */
import { expect, it } from 'vitest';
import { judgeCase } from '../../src/engine/permissions/check.js';

const RULES = {
  mode: 'acceptEdits',
  allow: [
    'Bash(npm:*)',
    'Bash(git:*)',
    'Bash(pytest:*)',
    'Bash(node:*)',
    'Bash(python3:*)',
    'Bash(tsc:*)',
    'Bash(npx tsc:*)',
    'Bash(make:*)',
    'Bash(cargo:*)',
    'Bash(gh:*)',
    'Bash(mkdir:*)',
    'Bash(cp:*)',
    'Bash(mv:*)',
    'Bash(chmod:*)',
    'Bash(docker compose:*)',
    'Bash(curl -s localhost:3000/*)',
    'Bash(./scripts/*)',
  ],
  deny: ['Read(./.env)', 'Read(./secrets/**)', 'Bash(sudo:*)', 'Bash(rm -rf /:*)'],
};

const WORK = String.raw`cd /repo && npm test
npm run build 2>&1 | tail -20
git add -A && git commit -m "fix: thing"
for f in *.ts; do wc -l "$f"; done
ls -la | head
grep -rn foo src | wc -l
cat package.json | jq .scripts
pytest -q 2>/dev/null || true
git status
git diff
git log --oneline -5
git diff HEAD~1 -- src/a.ts
cd packages/core && npm test
npm install --save-dev vitest
npm test -- --grep "a|b"
node scripts/build.js --quiet && echo done
python3 -m pytest tests/test_a.py -x -q 2>&1 | tail -30
python3 - <<'PY'\nimport json\nprint(json.load(open('package.json'))['name'])\nPY
mkdir -p src/new && touch src/new/a.ts
cat > src/a.ts <<'EOF'\nexport const a = 1;\nEOF
sed -n '10,40p' src/engine.ts
find . -name "*.test.ts" -not -path "*/node_modules/*" | head -20
find src -type f -name '*.ts' | wc -l
git show HEAD --stat
git log --oneline --graph --all -20
git branch -a
git checkout -b feature/x
git stash && git pull --rebase && git stash pop
git push -u origin feature/x
gh pr create --title "x" --body "$(cat <<'EOF'\n## Summary\nEOF\n)"
gh pr view 12 --json title,body
npx tsc --noEmit 2>&1 | head -50
tsc --noEmit -p tsconfig.json | grep error | wc -l
cargo test --all 2>&1 | tail -40
make build && make test
docker compose up -d
wc -l src/**/*.ts
head -50 README.md && tail -20 README.md
echo "=== tests ===" && npm test
which node && node --version
npm ls --depth=0
cat package.json
ls node_modules | wc -l
du -sh node_modules
grep -n "export function" src/*.ts | head -40
rg -n "TODO" --type ts
git diff --stat && git status --short
test -f tsconfig.json && echo yes || echo no
if [ -d dist ]; then ls dist; fi
export NODE_ENV=test && npm test
NODE_ENV=production npm run build
timeout 60 npm test
time npm run build
npm run lint -- --fix
npm run dev > /repo/out.log 2>&1 &
sleep 2 && cat out.log
git rev-parse HEAD
BRANCH=$(git branch --show-current); echo "on $BRANCH"
for i in 1 2 3; do npm test || break; done
git log --since="2 days ago" --pretty=format:"%h %s"
awk -F, '{print $2}' data.csv | sort | uniq -c | sort -rn | head
diff <(git show HEAD:a.ts) a.ts
node -e "console.log(require('./package.json').version)"
ls -la src/ test/ 2>/dev/null
cat src/a.ts | sed 's/a/b/g'
echo "hello" | tee out.txt
npm run test:unit
(cd packages/a && npm test)
git add src/a.ts src/b.ts && git commit -m "$(cat <<'EOF'\nfix: x\n\nmore .env text\nEOF\n)"
stat -c %s dist/index.js
tree -L 2 -I node_modules
xargs echo < list.txt
git ls-files | grep -c '\\.ts$'
pwd && ls
date +%s
printf '%s\\n' a b c
python3 -c "print(1+1)"
npm view zod version
git remote -v
md5sum dist/*.js
cat a.json | python3 -m json.tool
git config --get remote.origin.url
npm run build && ls -lh dist | awk '{print $5, $9}'
find . -name '*.ts' -exec grep -l foo {} +
find . -name '*.ts' -print0 | xargs -0 grep -l foo
grep -rl foo src | xargs sed -i 's/foo/bar/g'
ps aux | grep node
cat .gitignore
git diff --cached --name-only | head
npm pack --dry-run
curl -s localhost:3000/health
kill %1
mv src/a.ts src/b.ts
cp src/a.ts src/c.ts
rm -f dist/old.js
chmod +x scripts/x.sh
./scripts/x.sh
cp -r public/. dist/
cp .env.example config.example
cp src/a.ts src/b.ts src/lib
mv dist/index.js dist/main.js
mv src/old src/legacy
chmod -R u+w dist
git diff -- src
git diff src/a.ts
git diff main...HEAD --stat
git show HEAD --name-only
git show HEAD -- src/a.ts
git log -p -- src/a.ts
git log --stat -3
git status -uno
git checkout src/a.ts
git restore --staged src/a.ts
git rm --cached src/old.ts
git mv src/a.ts src/b.ts
git clone https://github.com/x/y.git vendor/y
git config user.email me@example.org
git switch -c feature/y
git worktree list
find src -name '*.ts' -exec grep -l foo {} +
find src -name '*.test.ts' | xargs wc -l
grep -rn --include=*.ts foo src
python3 scripts/gen.py > src/gen.ts
npm run build -- --outDir dist`;

it.each([
  `printf '%s\\n' "$(git rev-parse HEAD)"`,
  `printf "%s: %d\\n" "$(basename src/a.ts)" "$(wc -l < src/a.ts)"`,
  `printf -- '%s' "$HOME"`,
])('D2 what comes behind a format is no flag: %s', (command) => {
  const setup = { cwd: '/repo', trusted: true };
  expect(judgeCase({ id: 1, setup, input: { tool: 'Bash', command } }).verdict).toBe('allow');
});

it.each([`printf "$(cat a)" b`, `printf $X '%s' a`, `printf -v PATH '%s' "$(cat a)"`, `printf '%n' "$X"`])(
  'D1 what may be one in its place is: %s',
  (command) => {
    const setup = { cwd: '/repo', trusted: true };
    expect(judgeCase({ id: 1, setup, input: { tool: 'Bash', command } }).verdict).toBe('ask');
  },
);

it.each<[string, string, string]>([
  ['Bash(python3 scripts/gen.py:*)', 'cat data.csv | python3 scripts/gen.py', 'allow'],
  ['Bash(python3 scripts/gen.py:*)', 'python3 scripts/gen.py -v < data.csv', 'allow'],
  ['Bash(python3 scripts/gen.py:*)', 'X=$(python3 scripts/gen.py); echo "$X"', 'allow'],
  ['Bash(node:*)', 'cat a | node', 'ask'],
  ['Bash(node:*)', 'cat a | node -', 'ask'],
  ['Bash(node --import ./a.js:*)', 'cat a | node --import ./a.js', 'ask'],
  ['Bash(node inspect:*)', 'cat a | node inspect', 'ask'],
  ['Bash(python3 /dev/stdin:*)', 'cat a | python3 /dev/stdin', 'ask'],
  ['Bash(sqlite3 a.db:*)', 'cat a | sqlite3 a.db', 'ask'],
])('D2 what comes in is run only where no script is named: %s, %s: %s', (rule, command, verdict) => {
  const setup = { cwd: '/repo', trusted: true, allow: [rule] };
  expect(judgeCase({ id: 1, setup, input: { tool: 'Bash', command } }).verdict).toBe(verdict);
});

it('D2 at most 5 % of the commands of ordinary work are asked about', () => {
  const commands = WORK.split('\n').map((line) => line.replaceAll('\\n', '\n'));
  const asked = commands.filter((command) => {
    const setup = { cwd: '/repo', trusted: true, ...RULES };
    return judgeCase({ id: 1, setup, input: { tool: 'Bash', command } }).verdict !== 'allow';
  });
  expect(commands.length).toBeGreaterThan(120);
  expect({ asked, share: asked.length / commands.length <= 0.05 }).toEqual({ asked, share: true });
});
