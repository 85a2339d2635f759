/**
 * What does not show, or changes what is shown around it: controls, bidi and zero-width characters, lone surrogates, private
 * ones, blanks that are no plain space, fillers, variation selectors. Newline and tab are layout, and what makes one emoji of
 * its parts is part of it. A command that holds one is asked about, and what a person approves is shown with each written out.
 */
export const UNSEEN =
  /(?![\n\t ])(?!(?<=\p{Extended_Pictographic})\uFE0F)(?!(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F])\u200D\p{Extended_Pictographic})[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;
