import type { Tool } from '../../protocol/index.js';
import { bashTool } from './bash.js';
import { editTool } from './edit.js';
import { globTool } from './glob.js';
import { grepTool } from './grep.js';
import { readTool } from './read.js';
import { writeTool } from './write.js';

/** The tools every session has unless it is told otherwise. */
export const createBuiltinTools = (): Tool[] => [bashTool, editTool, globTool, grepTool, readTool, writeTool];
