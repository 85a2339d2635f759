import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { include: ['test/soak/**/*.test.ts'], isolate: false, pool: 'forks', testTimeout: 600_000 },
});
