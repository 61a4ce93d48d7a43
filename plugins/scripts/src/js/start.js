// Gives the files of this folder to one another: `compile` makes the function of one.
(function (compile, native) {
  const loaded = new Map();

  function require(name) {
    const module = loaded.get(name) ?? { exports: {} };
    if (loaded.has(name)) return module.exports;
    loaded.set(name, module);
    compile(name)(require, module, native);
    return module.exports;
  }

  return require('boot');
});
