/** What can be done, the most important first; what has no room is left out, but never the way out at the end. */
export const HINTS = {
  list: ["enter details", "r reconnect", "d on/off", "i sign in", "/ filter", "? help", "c check", "esc close"],
  detail: ["r reconnect", "d on/off", "i sign in", "t tools", "l log", "c check", "o sign out", "esc back"],
  text: ["↑↓ scroll", "esc back"],
  read: ["↓ to the end first", "esc not now"],
  accept: ["y accept them as they are now", "esc not now"],
  filter: ["type to filter", "enter keep", "esc clear"],
  empty: ["m take over from another program", "n add by pasting", "esc close"],
};

export const HELP = `Keys of this panel

  ↑ ↓ j k         move, or scroll
  PgUp PgDn g G   by pages, to the beginning, to the end
  enter           all about the server
  r               connect anew, and list its tools
  d               switch it off, or on again, in the file where it stands
  i  o            sign in, sign out
  c               check it from the file to its lists, as \`pi-mcp doctor\` does
  p               tools that are not as you accepted them, with the difference
  t  l            its tools, and what it has written to stderr
  a               allow the servers of this project's files
  n  m            add a server by pasting what a README shows; take over those of another program
  /               filter by name or state
  esc q           back, and close

A server starts with its first use. What is changed in a file is taken up at once.`;
