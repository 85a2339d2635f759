/** Addresses where paths are expected. They may hold passwords, and are told without them. */
import { hideInAddress } from '../mcp/secrets.js';

const URL_LIKE = /^[a-z][a-z0-9+.-]+:\/\//i;
/** What git takes for an address as well: `git@host:path`. */
const OF_GIT = /^[^\s/@]+@[\w.-]+:/;

export const isUrl = (text: string): boolean => URL_LIKE.test(text.trim());

export const isAddress = (text: string): boolean => isUrl(text) || OF_GIT.test(text.trim());

/** Without names and passwords before a host, and without what stands behind the question mark. Other texts stay. */
export const showAddress = (text: string): string =>
  text.includes('://')
    ? text.replace(/[a-z][a-z0-9+.-]*:\/\/\S*/gi, hideInAddress)
    : text.replace(/[^\s/@:]*:[^\s@]*@/g, '***@');

/** The same for an address that people are meant to open. */
export const withoutUser = (address: string): string => address.replace(/(?<=:\/\/)[^/?#\s]*@/, '***@');
