// Lays the entries of a long list out in columns, by the rules of Node's `groupArrayElements`.
const separator = 2;
const heightOfCharacters = 2.5;

function group(state, output, value) {
  // The last entry may be "... more items", which is no part of the columns.
  const count = output.length - (output.length > state.maxArrayLength ? 1 : 0);
  const lengths = output.slice(0, count).map((entry) => entry.length);
  const longest = Math.max(...lengths);
  const columns = columnsFor(state, lengths, longest + separator, output.length);
  if (columns <= 1) return output;

  const widths = [];
  for (let column = 0; column < columns; column++) {
    let width = 0;
    for (let i = column; i < count; i += columns) width = Math.max(width, lengths[i]);
    widths.push(width + separator);
  }
  const isNumeric =
    value !== undefined && output.every((_, i) => ['number', 'bigint'].includes(typeof value[i]));
  const rows = [];
  for (let first = 0; first < count; first += columns) {
    rows.push(row(output.slice(first, Math.min(first + columns, count)), widths, isNumeric));
  }
  return count < output.length ? [...rows, output[count]] : rows;
}

// At least three entries must fit next to each other, and none be much longer than the others.
function columnsFor(state, lengths, width, entries) {
  const total = lengths.reduce((sum, length) => sum + length + separator, 0);
  const isEven = total / width > 5 || width - separator <= 6;
  if (width * 3 + state.indentation >= state.breakLength || !isEven) return 1;
  const biased = Math.max(width - 3 - Math.sqrt(width - total / entries), 1);
  return Math.min(
    Math.round(Math.sqrt(heightOfCharacters * biased * lengths.length) / biased),
    Math.floor((state.breakLength - state.indentation) / width),
    state.compact * 4,
    15,
  );
}

function row(entries, widths, isNumeric) {
  const last = entries.length - 1;
  const padded = entries.map((entry, i) => {
    if (isNumeric)
      return i < last ? `${entry}, `.padStart(widths[i]) : entry.padStart(widths[i] - separator);
    return i < last ? `${entry}, `.padEnd(widths[i]) : entry;
  });
  return padded.join('');
}

module.exports = { group };
