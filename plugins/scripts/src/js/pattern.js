// Turns a glob into a regular expression: `*`, `**`, `?`, `[a-z]`, `{a,b}`.
function toRegExp(glob) {
  return new RegExp(`^${translate(glob.replace(/^\.\//, ''))}$`, 'u');
}

function translate(glob) {
  let pattern = '';
  let depth = 0;
  for (let i = 0; i < glob.length; i++) {
    const rest = glob.slice(i);
    const set = /^\[[!^]?\]?[^\]/]*\]/.exec(rest)?.[0];
    if (rest.startsWith('**/') && (i === 0 || glob[i - 1] === '/')) {
      pattern += '(?:[^/]+/)*';
      i += 2;
    } else if (rest === '**' && (i === 0 || glob[i - 1] === '/')) {
      pattern += '.*';
      i += 1;
    } else if (rest[0] === '*') pattern += '[^/]*';
    else if (rest[0] === '?') pattern += '[^/]';
    else if (set !== undefined) {
      pattern += `[${set
        .slice(1, -1)
        .replace(/^!/, '^')
        .replace(/[\\[\]]/g, '\\$&')}]`;
      i += set.length - 1;
    } else if (rest[0] === '{' && rest.includes('}')) {
      depth++;
      pattern += '(?:';
    } else if (rest[0] === '}' && depth > 0) {
      depth--;
      pattern += ')';
    } else if (rest[0] === ',' && depth > 0) pattern += '|';
    else pattern += rest[0].replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
  }
  return pattern;
}

module.exports = { toRegExp };
