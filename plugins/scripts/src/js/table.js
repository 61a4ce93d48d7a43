// What `console.table` prints.
const { inspect } = require('inspect');

const isObject = (value) => value !== null && typeof value === 'object';

function table(rows) {
  const named = Object.entries(rows);
  const columns = [...new Set(named.flatMap(([, row]) => (isObject(row) ? Object.keys(row) : [])))];
  const hasValues = named.some(([, row]) => !isObject(row));
  const show = (value) => inspect(value, { depth: 0 });
  const cells = named.map(([name, row]) => [
    name,
    ...columns.map((column) =>
      isObject(row) && Object.hasOwn(row, column) ? show(row[column]) : '',
    ),
    ...(hasValues ? [isObject(row) ? '' : show(row)] : []),
  ]);
  return draw([['(index)', ...columns, ...(hasValues ? ['Values'] : [])], ...cells]);
}

function draw(cells) {
  const widths = cells[0].map(
    (_, column) => Math.max(...cells.map((row) => row[column].length)) + 2,
  );
  const rule = (left, middle, right) =>
    left + widths.map((width) => '─'.repeat(width)).join(middle) + right;
  const line = (row) =>
    `│${row.map((cell, column) => ` ${cell}`.padEnd(widths[column])).join('│')}│`;
  const [head, ...rest] = cells;
  return [
    rule('┌', '┬', '┐'),
    line(head),
    rule('├', '┼', '┤'),
    ...rest.map(line),
    rule('└', '┴', '┘'),
  ].join('\n');
}

module.exports = { table };
