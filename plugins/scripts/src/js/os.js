// The module `os`, or the little that a sandbox has of it.
module.exports = { EOL: '\n', platform: () => 'wasi', type: () => 'wasi' };
