// Of the module `url`, what turns paths into addresses and back.
const paths = require('path');

function fileURLToPath(url) {
  const text = typeof url === 'string' ? url : url?.href;
  if (typeof text === 'string' && text.startsWith('file://'))
    return decodeURIComponent(text.slice('file://'.length));
  throw Object.assign(new TypeError('The URL must be of scheme file'), {
    code: 'ERR_INVALID_URL_SCHEME',
  });
}

function pathToFileURL(path) {
  const pathname = encodeURI(paths.resolve(path)).replaceAll('?', '%3F').replaceAll('#', '%23');
  const href = `file://${pathname}`;
  return { href, protocol: 'file:', pathname, toString: () => href, toJSON: () => href };
}

module.exports = { fileURLToPath, pathToFileURL };
