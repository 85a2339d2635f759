/**
 * What does not show, or changes what is shown around it: controls, bidi and zero-width characters, lone surrogates, private
 * ones, blanks that are no plain space, fillers, variation selectors. Newline and tab are layout. A command that holds one is
 * asked about, and what a person approves is shown with each of them written out.
 */
export const UNSEEN = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;
