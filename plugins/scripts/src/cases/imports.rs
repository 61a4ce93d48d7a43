//! Which modules scripts find, and how.

use super::{failing, printing};

printing! {
    files_beside_the_script_are_imported [("lib/a.js", "export const a = 1; export default 'd'; export * from './b.mjs';"), ("lib/b.mjs", "export const b = import.meta.filename.endsWith('/lib/b.mjs')")]:
        "import d, { a, b } from './lib/a.js'; console.log(d, a, b)"
        => "d 1 true";
    endings_and_indices_may_be_left_out [("a.js", "export const a = 1"), ("b/index.js", "export const b = 2"), ("c.json", "{\"c\":3}")]:
        "import { a } from './a'; import { b } from './b'; import c from './c'; console.log(a, b, c)"
        => "1 2 { c: 3 }";
    paths_count_from_the_importing_file [("a/b/c.js", "export { x } from '../x.js'"), ("a/x.js", "export const x = 1")]:
        "const { x } = await import('./a/b/c.js'); console.log(x)"
        => "1";
    built_in_modules_have_names_with_and_without_a_prefix:
        "import fs, { readFileSync } from 'node:fs'; import * as p from 'path'; import fsp from 'node:fs/promises'; import { EOL } from 'os'; import process2 from 'process'; console.log(fs.readFileSync === readFileSync, p.join('a', 'b'), fsp === fs.promises, EOL === '\\n', process2 === process)"
        => "true a/b true true true";
    require_gives_the_same [("c.cjs", "exports.dir = require('path').basename(__dirname) !== ''; exports.again = require('./d').value"), ("d.js", "module.exports = { value: 5 }"), ("e.json", "[1]")]:
        "const { readFileSync } = require('node:fs'); console.log(require('fs').readFileSync === readFileSync, require('./c.cjs'), require('./e.json'), typeof module, typeof exports)"
        => "true { dir: true, again: 5 } [ 1 ] object object";
    modules_of_common_js_have_named_exports [("c.js", "exports.x = 1; exports.default = 2"), ("f.cjs", "module.exports = function f() { return 3 }")]:
        "import c, { x } from './c.js'; import f from './f.cjs'; console.log(c, x, f())"
        => "{ x: 1, default: 2 } 1 3";
    modules_of_common_js_may_need_each_other [("a.cjs", "exports.first = 1; exports.b = require('./b.cjs').value"), ("b.cjs", "exports.value = require('./a.cjs').first + 1")]:
        "console.log(require('./a.cjs').b)"
        => "2";
    packages_are_found_in_node_modules [("node_modules/x/package.json", "{\"main\":\"lib/main.js\"}"), ("node_modules/x/lib/main.js", "module.exports = { x: 1, y: require('@s/y') }"), ("node_modules/@s/y/index.js", "module.exports = 2"), ("node_modules/x/sub.js", "exports.sub = 3")]:
        "import x from 'x'; import { sub } from 'x/sub.js'; console.log(x, sub, require('@s/y'))"
        => "{ x: 1, y: 2 } 3 2";
    packages_are_found_in_the_other_folder_too [("modules/z/index.js", "export default 'z'"), ("modules/w.js", "export default 'w'")]:
        "import z from 'z'; import w from 'w'; console.log(z, w)"
        => "z w";
    packages_say_what_they_export [("node_modules/x/package.json", "{\"type\":\"module\",\"exports\":{\".\":{\"require\":\"./c.cjs\",\"import\":\"./m.js\"},\"./a/*\":\"./lib/*.js\"}}"), ("node_modules/x/m.js", "export default 'import'"), ("node_modules/x/c.cjs", "module.exports = 'require'"), ("node_modules/x/lib/q.js", "export default 'q'")]:
        "import x from 'x'; import q from 'x/a/q'; console.log(x, require('x'), q); await import('x/secret').catch((e) => console.log(e.code))"
        => "import require q\nERR_PACKAGE_PATH_NOT_EXPORTED";
    a_module_knows_where_it_is:
        "import { fileURLToPath } from 'url'; import path from 'path'; console.log(path.relative(process.cwd(), fileURLToPath(import.meta.url)), path.basename(__filename), import.meta.dirname === process.cwd())"
        => "script.js script.js true";
    top_level_await_works [("a.js", "export const a = await Promise.resolve(1)")]:
        "import { a } from './a.js'; console.log(a, await new Promise((done) => setTimeout(done, 1000, 2)))"
        => "1 2";
}

failing! {
    an_unknown_package_names_the_built_in_ones_and_the_folders:
        "import x from 'lodash'"
        => 1, ["Uncaught Error: Cannot find package 'lodash' imported from script.js", "looked for in node_modules, ", "/modules.", "Built-in modules: assert, "];
    an_unknown_built_in_module_names_the_others:
        "import x from 'node:http'"
        => 1, ["No such built-in module: node:http", "fs, fs/promises"];
    a_missing_file_is_named:
        "import x from './lib/x.js'"
        => 1, ["Cannot find module './lib/x.js' imported from script.js", "there is no lib/x.js"];
    a_missing_export_is_named [("a.js", "export const a = 1")]:
        "import { b } from './a.js'"
        => 1, ["SyntaxError", "'b'", "a.js"];
    an_es_module_is_not_required [("a.js", "export const a = 1")]:
        "require('./a.js')"
        => 1, ["require() of ES Module a.js is not supported: use import"];
    an_error_in_a_module_has_its_place [("a.js", "\n\nnull.x")]:
        "import './a.js'"
        => 1, ["Uncaught TypeError", "at a.js:3:1"];
    a_syntax_error_in_a_module_has_its_place [("a.js", "export const a = 1;\nlet = ;")]:
        "import './a.js'"
        => 1, ["Uncaught SyntaxError", "a.js:2:"];
    json_that_is_none_is_named [("a.json", "{")]:
        "import './a.json'"
        => 1, ["Uncaught SyntaxError: a.json: "];
}
