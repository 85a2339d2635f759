import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/soak/**', '**/node_modules/**'],
    isolate: false,
    pool: 'forks',
    // Most of them wait for files and processes: one for each core, though the runner itself takes a part of one.
    maxWorkers: '100%',
    // Long enough for a machine that does much else: only what hangs is to fail.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
